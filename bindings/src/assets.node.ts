// Copies what a page loads at run time to where its scripts are, for bundlers that do not follow `new URL(…)`.
import { cp, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { includedModels } from './included.js';

const home = dirname(fileURLToPath(import.meta.url));

/** Copies the worker with its modules, the WebAssembly files and the models into a directory. */
export async function copyAssets(directory: string): Promise<void> {
  const models = includedModels.map(({ url }) => relative(home, fileURLToPath(url())));
  const files = [...(await modulesOf('worker.js')), 'relaxed/octavo.wasm', 'simd128/octavo.wasm', ...models];
  for (const file of files) await cp(join(home, file), join(directory, file));
}

/** A module of ours and all that it imports. */
async function modulesOf(name: string, found = new Set<string>()): Promise<Set<string>> {
  if (found.has(name)) return found;
  found.add(name);
  const code = await readFile(join(home, name), 'utf8');
  for (const [, other = ''] of code.matchAll(/\b(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g))
    await modulesOf(other, found);
  return found;
}
