// Builds the native tool, both WebAssembly modules, and from them the npm package in dist/.
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setup } from './setup.mjs';
import { isMain, main, root, run, runNpm, runQuietly, step } from './shell.mjs';

/** The WebAssembly builds: the directory of each in dist/, and the CMake preset that it comes from. */
export const wasmBuilds = { simd128: 'wasm', relaxed: 'wasm-relaxed' };

/** Builds one CMake preset, configuring it before where ninja would not notice that it has to be. */
export function buildPreset(preset) {
  const time = (file) => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (time(`build/${preset}/build.ninja`) < time('CMakePresets.json'))
    runQuietly('cmake', ['--preset', preset]);
  run('cmake', ['--build', '--preset', preset, '--parallel', String(availableParallelism())]);
}

export const buildNative = () => step('Native build', () => buildPreset('native'));

export const buildWasm = () =>
  step('WebAssembly builds', () => Object.values(wasmBuilds).forEach(buildPreset));

export const buildPackage = () =>
  step('Package', () => {
    const dist = join(root, 'dist');
    rmSync(dist, { recursive: true, force: true });
    runNpm('tsc', ['--project', 'bindings']);

    for (const [name, preset] of Object.entries(wasmBuilds)) {
      mkdirSync(join(dist, name), { recursive: true });
      cpSync(join(root, 'build', preset, 'octavo.wasm'), join(dist, name, 'octavo.wasm'));
      cpSync(join(root, 'build/wasm/octavo.d.ts'), join(dist, name, 'octavo.d.mts'));
      // Emscripten leaves names long.
      const glue = join('build', preset, 'octavo.mjs');
      runNpm('esbuild', [glue, '--minify', '--log-level=warning', `--outfile=dist/${name}/octavo.mjs`]);
    }

    const { scripts, devDependencies, optionalDependencies, ...manifest } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    );
    manifest.sideEffects = false;
    manifest.exports = {
      '.': { types: './index.d.ts', default: './index.js' },
      './*.wasm': './*.wasm',
      './package.json': './package.json',
    };
    writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    for (const file of ['README.md', 'LICENSE']) cpSync(join(root, file), join(dist, file));
    writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicenses());
  });

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

if (isMain(import.meta)) {
  await main(async () => {
    await setup();
    await buildNative();
    await buildWasm();
    await buildPackage();
  });
}
