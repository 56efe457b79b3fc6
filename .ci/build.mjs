// Builds the native tool, both WebAssembly modules, from them the npm package in dist/, and from that the page in web/dist/.
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildPackage, wasmBuilds } from './package.mjs';
import { buildPage } from './page.mjs';
import { setup } from './setup.mjs';
import { isMain, main, root, run, runQuietly, step } from './shell.mjs';

export { buildPackage, buildPage, wasmBuilds };

/** Builds one CMake preset, or one target of it, configuring it before where ninja would not notice that it has to be. */
export function buildPreset(preset, target = 'all') {
  const time = (file) => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (time(`build/${preset}/build.ninja`) < time('CMakePresets.json'))
    runQuietly('cmake', ['--preset', preset]);
  const parallel = String(availableParallelism());
  run('cmake', ['--build', '--preset', preset, '--parallel', parallel, '--target', target]);
}

export const buildNative = () => step('Native build', () => buildPreset('native'));

export const buildWasm = () =>
  step('WebAssembly builds', () => Object.values(wasmBuilds).forEach((preset) => buildPreset(preset)));

if (isMain(import.meta)) {
  await main(async () => {
    await setup();
    await buildNative();
    await buildWasm();
    await buildPackage();
    await buildPage();
  });
}
