// Makes the npm package in dist/ of the TypeScript sources and the WebAssembly modules.
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, transformSync } from 'esbuild';
import { Trouble, root, runNpm, step } from './shell.mjs';

/** The WebAssembly builds: the directory of each in dist/, and the CMake preset that it comes from. */
export const wasmBuilds = { simd128: 'wasm', relaxed: 'wasm-relaxed' };

const dist = join(root, 'dist');

export const buildPackage = () =>
  step('Package', async () => {
    rmSync(dist, { recursive: true, force: true });
    runNpm('tsc', ['--project', 'bindings']);
    copyEngine();
    await bundle();
    copyDeclarations();
    writeManifest();
    for (const file of ['README.md', 'LICENSE']) cpSync(join(root, file), join(dist, file));
    writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicenses());
    copyModels();
  });

/** The WebAssembly modules with Emscripten's glue, which is written once if it is the same for both. */
function copyEngine() {
  const glues = new Map();
  for (const [name, preset] of Object.entries(wasmBuilds)) {
    mkdirSync(join(dist, name), { recursive: true });
    cpSync(join(root, 'build', preset, 'octavo.wasm'), join(dist, name, 'octavo.wasm'));
    cpSync(join(root, 'build/wasm/octavo.d.ts'), join(dist, name, 'octavo.d.mts'));
    const glue = webGlue(readFileSync(join(root, 'build', preset, 'octavo.mjs'), 'utf8'));
    const same = glues.get(glue);
    writeFileSync(join(dist, name, 'octavo.mjs'), same ? `export { default } from '../${same}/octavo.mjs';\n` : glue);
    glues.set(glue, name);
  }
}

/**
 * Emscripten's glue without what only Node needs: bundlers for the web stumble over its imports, and Node runs the rest as
 * well, since the engine reads the WebAssembly file itself. Minified, for Emscripten leaves names long.
 */
function webGlue(source) {
  const withoutNode = source
    .replace(/var ENVIRONMENT_IS_NODE=[^;]+;/, '')
    .replaceAll('ENVIRONMENT_IS_NODE', 'false')
    .replace('new URL("octavo.wasm",import.meta.url).href', '"octavo.wasm"');
  const { code } = transformSync(withoutNode, { minify: true, format: 'esm' });
  if (/\bimport\(|\brequire\(/.test(code)) throw new Trouble("Emscripten's glue has changed: it still imports for Node.");
  return code;
}

/** The worker as one file, easy to copy beside a bundle, and the package for `require`. */
async function bundle() {
  const common = { bundle: true, sourcemap: true, sourcesContent: false, logLevel: 'warning', allowOverwrite: true };
  await build({
    ...common,
    entryPoints: [join(dist, 'worker.js')],
    outfile: join(dist, 'worker.js'),
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
  });
  await build({
    ...common,
    entryPoints: [join(dist, 'node.js')],
    outfile: join(dist, 'node.cjs'),
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    external: ['./engine.js'], // an ES module, which is imported only when it is asked for
    define: { 'import.meta.url': 'moduleURL' },
    banner: { js: "const moduleURL = require('node:url').pathToFileURL(__filename).href;" },
  });
  const command = join(dist, 'cli.js');
  writeFileSync(command, `#!/usr/bin/env node\n${readFileSync(command, 'utf8')}`);
  chmodSync(command, 0o755);
}

/** TypeScript wants declarations of its own for `require`: the same ones, in a directory that says CommonJS. */
function copyDeclarations() {
  const commonJS = join(dist, 'cjs');
  for (const name of readdirSync(dist, { recursive: true })) {
    if (/\.d\.m?ts$/.test(name)) cpSync(join(dist, name), join(commonJS, name));
  }
  writeFileSync(join(commonJS, 'package.json'), '{ "type": "commonjs" }\n');
}

function writeManifest() {
  const { scripts, devDependencies, optionalDependencies, ...manifest } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const forBrowsers = { types: './index.d.ts', default: './index.js' };
  Object.assign(manifest, {
    // Only the entries do something by being loaded: they choose the runtime.
    sideEffects: ['./index.js', './node.js', './node.cjs', './worker.js', './worker.node.js', './cli.js'],
    bin: { octavo: 'cli.js' },
    main: './node.cjs',
    types: './index.d.ts',
    exports: {
      '.': {
        browser: forBrowsers,
        worker: forBrowsers,
        node: {
          import: { types: './node.d.ts', default: './node.js' },
          require: { types: './cjs/node.d.ts', default: './node.cjs' },
        },
        default: forBrowsers,
      },
      './worker.js': './worker.js',
      './simd128/octavo.wasm': './simd128/octavo.wasm',
      './relaxed/octavo.wasm': './relaxed/octavo.wasm',
      './models/*': './models/*',
      './package.json': './package.json',
    },
  });
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The registry and the models beside it, where `Translator.create` looks unless it is told otherwise. */
function copyModels() {
  const models = join(root, 'models');
  const registry = join(models, 'registry.json');
  if (!existsSync(registry)) return;
  cpSync(registry, join(dist, 'models/registry.json'));
  for (const { file } of JSON.parse(readFileSync(registry, 'utf8')).models) {
    cpSync(join(models, file), join(dist, 'models', file));
  }
}

/** The licences of what is compiled into the WebAssembly modules. */
function thirdPartyLicenses() {
  const sources = join(root, 'build/toolchain/sentencepiece');
  const texts = {
    sentencepiece: join(sources, 'LICENSE'),
    'abseil-cpp': join(sources, 'third_party/absl/LICENSE'),
    'darts-clone': join(sources, 'third_party/darts_clone/LICENSE'),
  };
  return Object.entries(texts)
    .map(([name, file]) => `${name}\n${'='.repeat(name.length)}\n\n${readFileSync(file, 'utf8').trim()}\n`)
    .join('\n\n');
}
