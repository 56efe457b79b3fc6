// Makes the npm package in dist/ of the TypeScript sources and the WebAssembly modules.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { thinMap } from './source-map.mjs';
import { Trouble, root, runNpm, step } from './shell.mjs';

/** The WebAssembly builds: the directory of each in dist/, and the CMake preset that it comes from. */
export const wasmBuilds = { simd128: 'wasm', relaxed: 'wasm-relaxed' };

const dist = join(root, 'dist');

/** esbuild, once set-up has installed it: this file is loaded before. */
const esbuild = () => createRequire(import.meta.url)('esbuild');

export const buildPackage = () =>
  step('Package', async () => {
    rmSync(dist, { recursive: true, force: true });
    runNpm('tsc', ['--project', 'bindings']);
    copyEngine();
    copyModels();
    const scripts = await bundle();
    writeCommonJSDeclarations();
    const declarations = new Set([
      ...publicDeclarations('index.d.ts'),
      ...publicDeclarations('node.d.ts'),
      'node.d.cts',
    ]);
    writeManifest([...scripts, ...declarations]);
    cpSync(join(root, 'bindings/README.md'), join(dist, 'README.md'));
    cpSync(join(root, 'LICENSE'), join(dist, 'LICENSE'));
    writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicenses());
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
    writeFileSync(
      join(dist, name, 'octavo.mjs'),
      same ? `export { default } from '../${same}/octavo.mjs';\n` : glue,
    );
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
  const { code } = esbuild().transformSync(withoutNode, { minify: true, format: 'esm' });
  if (/\bimport\(|\brequire\(/.test(code))
    throw new Trouble("Emscripten's glue has changed: it still imports for Node.");
  return code;
}

/**
 * The JavaScript that is published, beside what tsc has written and tests look into: the entries, what they share, and the
 * package for `require`. Returns the names of the files.
 */
async function bundle() {
  const file = (name) => join(dist, `${name}.js`);
  const modules = await esbuild().build({
    // The last two are loaded only when they are needed.
    entryPoints: ['index', 'node', 'cli', 'worker', 'worker.node', 'engine', 'pipeline'].map(file),
    bundle: true,
    minify: true,
    write: false,
    outdir: dist,
    logLevel: 'warning',
    target: 'es2022',
    format: 'esm',
    platform: 'neutral',
    external: ['node:*'],
    splitting: true, // into files beside the entries, so that the addresses of worker and engine stay right
    chunkNames: 'shared-[hash]',
    sourcemap: true,
    sourcesContent: false,
  });
  // Node has let `require` load ES modules since 20.19. A second copy of everything could disagree with the first.
  writeFileSync(join(dist, 'node.cjs'), "module.exports = require('./node.js');\n");
  const names = modules.outputFiles.map(({ path, text }) => {
    writeFileSync(path, path.endsWith('.map') ? thinMap(text) : text);
    return relative(dist, path);
  });
  return [...names, 'node.cjs'];
}

/** The declarations that the entries' lead to; internal ones stay behind. */
function publicDeclarations(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, specifier] of readFileSync(join(dist, name), 'utf8').matchAll(
    /(?:from|import\()\s*['"](\.[^'"]+)\.(?=m?js['"])/g,
  )) {
    const base = join(dirname(name), specifier);
    publicDeclarations(
      [`${base}.d.ts`, `${base}.d.mts`].find((file) => existsSync(join(dist, file))),
      found,
    );
  }
  return found;
}

/** For TypeScript that says `require`: the same names, imported from the declarations of the ES module. */
function writeCommonJSDeclarations() {
  const api = readFileSync(join(dist, 'api.d.ts'), 'utf8');
  const names = [...api.matchAll(/export (type )?\{([^}]+)\}/g)].flatMap(([, allTypes, list]) =>
    list.split(',').map((entry) => ({
      type: Boolean(allTypes) || /^\s*type\s/.test(entry),
      name: entry.replace(/^\s*type\s/, '').trim(),
    })),
  );
  const source = "import type * as octavo from './node.js' with { 'resolution-mode': 'import' };";
  const lines = names
    .filter(({ name }) => name)
    .flatMap(({ type, name }) => [
      // Classes, by their capital, are types and values at the same time.
      ...(type || /^[A-Z]/.test(name) ? [`export type ${name} = octavo.${name};`] : []),
      ...(type ? [] : [`export declare const ${name}: typeof octavo.${name};`]),
    ]);
  writeFileSync(join(dist, 'node.d.cts'), `${[source, ...lines].join('\n')}\n`);
}

/** The package's own package.json: ours without what only developers need. */
function writeManifest(files) {
  const { scripts, devDependencies, optionalDependencies, overrides, ...manifest } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const forBrowsers = { types: './index.d.ts', default: './index.js' };
  Object.assign(manifest, {
    // Only the entries do something by being loaded: they choose the runtime.
    sideEffects: ['index.js', 'node.js', 'node.cjs', 'worker.js', 'worker.node.js', 'cli.js'].map(
      (name) => `./${name}`,
    ),
    files: [
      ...files.sort(),
      '*/octavo.wasm',
      'models/registry.json',
      'models/*/model.octavo',
      'THIRD-PARTY-LICENSES.txt',
    ],
    bin: { octavo: 'cli.js' },
    main: './node.cjs',
    types: './index.d.ts',
    exports: {
      '.': {
        browser: forBrowsers,
        worker: forBrowsers,
        node: {
          import: { types: './node.d.ts', default: './node.js' },
          require: { types: './node.d.cts', default: './node.cjs' },
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

/** The models, a registry of them for whoever hosts them elsewhere, and the list that `Translator.create` looks into. */
function copyModels() {
  const models = join(root, 'models');
  cpSync(join(models, 'registry.json'), join(dist, 'models/registry.json'));
  const list = JSON.parse(readFileSync(join(models, 'registry.json'), 'utf8')).models.map((model) => {
    const { file, ...known } = model;
    cpSync(join(models, file), join(dist, 'models', file));
    return `  { ...${JSON.stringify(known)}, url: () => ${placed(`models/${file}`)} },\n`;
  });
  writeFileSync(
    join(dist, 'included.js'),
    `import { scriptAddress } from './place.js';\nexport const includedModels = [\n${list.join('')}];\n`,
  );
}

/** The address of a file of ours: in the form that bundlers look for, and for scripts without import.meta. */
const placed = (file) =>
  `typeof import.meta.url === 'undefined' ? new URL('${file}', scriptAddress) : new URL('./${file}', import.meta.url)`;

/** The licences of what is compiled into the WebAssembly modules. */
function thirdPartyLicenses() {
  const sources = join(root, 'build/toolchain/sentencepiece');
  const texts = {
    sentencepiece: join(sources, 'LICENSE'),
    'abseil-cpp': join(sources, 'third_party/absl/LICENSE'),
    'darts-clone': join(sources, 'third_party/darts_clone/LICENSE'),
  };
  const names = new Map(); // by licence: two of them have the same
  for (const [name, file] of Object.entries(texts)) {
    const text = readFileSync(file, 'utf8').trim();
    names.set(text, [...(names.get(text) ?? []), name]);
  }
  return [...names]
    .map(([text, list]) => `${list.join(', ')}\n${'='.repeat(list.join(', ').length)}\n\n${text}\n`)
    .join('\n\n');
}
