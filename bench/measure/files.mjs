// Files of the project, read from disk or from the benchmark's server.

const root = new URL('../../', import.meta.url);

const kept = new Map();

/** Reads files before they are asked for, so that reading them does not count. */
export async function preload(paths) {
  for (const path of paths) kept.set(path, await readBytes(path));
}

/** The bytes of a file, by its path in the project. */
export async function readBytes(path) {
  if (kept.has(path)) return kept.get(path);
  const url = new URL(path, root);
  if (url.protocol === 'file:') return (await import('node:fs/promises')).readFile(url);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${path} is not there (${response.status}).`);
  return new Uint8Array(await response.arrayBuffer());
}

export const readText = async (path) => new TextDecoder().decode(await readBytes(path));

/** A module, by its path in the project. */
export const importFile = (path) => import(new URL(path, root).href);
