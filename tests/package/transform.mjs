// Lets Jest read TypeScript: esbuild drops the types, tsc checks them elsewhere.
import { transformSync } from 'esbuild';

export default {
  process(source, path) {
    return transformSync(source, { loader: 'ts', format: 'esm', sourcemap: 'inline', sourcefile: path });
  },
};
