import { fileURLToPath } from 'node:url';

/** Vite wraps late imports in code that loads their styles and dependencies ahead. There are none, so it need not come along. */
const plainImports = {
  name: 'plain-imports',
  enforce: 'pre',
  load: (id) =>
    id.endsWith('vite/preload-helper.js') ? 'export const __vitePreload = (load) => load();' : undefined,
};

/** The page uses the npm package as it is published, from dist/. */
export default {
  base: './', // works under any path
  resolve: { alias: { octavo: fileURLToPath(new URL('../dist/index.js', import.meta.url)) } },
  plugins: [plainImports],
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    cssTarget: ['chrome123', 'firefox128', 'safari18'], // light-dark() stays what it is
    assetsInlineLimit: 0, // the page's security policy knows no data: addresses
    // One style sheet, and no lists of what to load ahead: smaller in all.
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    // What comes at once comes in one file, also what late parts use too: smaller in all.
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: 'page', test: /web.src.[\w-]+\.ts|dist.(shared-|pipeline)/ }] },
      },
    },
  },
};
