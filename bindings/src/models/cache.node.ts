// A directory of the user's. Each entry is two files: the bytes, and the note that is written last and so makes it valid.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ModelCache, Note } from './cache.js';

// The directory may hold files of others, too.
const ours = /^((?:partial-)?(?:model|url|registry)-[\da-f]+)\.(?:json|octavo)$/;

/** Where the system wants caches to be. `OCTAVO_CACHE` overrides it. */
export function defaultDirectory(): string {
  const { OCTAVO_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (OCTAVO_CACHE) return OCTAVO_CACHE;
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'octavo', 'models');
  if (process.platform === 'win32' && LOCALAPPDATA) return join(LOCALAPPDATA, 'octavo', 'models');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'octavo', 'models');
  return join(homedir(), '.cache', 'octavo', 'models');
}

/** Keeps models in a directory. */
export class DirectoryCache implements ModelCache {
  readonly place: string;

  constructor(directory: string) {
    this.place = directory;
  }

  async get(key: string) {
    try {
      const note = JSON.parse(await readFile(this.#path(key, 'json'), 'utf8')) as Note | null;
      if (!note) return undefined;
      const path = this.#path(key, 'octavo');
      const { size } = await stat(path);
      return { note, file: { size, handle: path, read: async () => new Uint8Array(await readFile(path)) } };
    } catch {
      return undefined; // not there, or not readable: the same to us
    }
  }

  async put(key: string, note: Note, data: Blob) {
    await mkdir(this.place, { recursive: true });
    await this.#write(this.#path(key, 'octavo'), data.stream());
    await this.#write(this.#path(key, 'json'), JSON.stringify(note));
  }

  async delete(key: string) {
    const existed = (await this.get(key)) !== undefined;
    await rm(this.#path(key, 'json'), { force: true });
    await rm(this.#path(key, 'octavo'), { force: true });
    return existed;
  }

  async list() {
    const names = await readdir(this.place).catch(() => []);
    const keys = new Set(names.flatMap((name) => ours.exec(name)?.[1] ?? []));
    return Promise.all(
      Array.from(keys, async (key) => {
        const entry = await this.get(key);
        return { key, note: entry?.note, bytes: entry?.file.size ?? 0 };
      }),
    );
  }

  #path(key: string, extension: string) {
    return join(this.place, `${key}.${extension}`);
  }

  /** Readers, here and in other processes, see the old file or the new one, never half of one. */
  async #write(path: string, data: string | ReadableStream<Uint8Array>) {
    const temporary = `${path}.${randomUUID()}.tmp`;
    try {
      await writeFile(temporary, data as string | AsyncIterable<Uint8Array>);
      await rename(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
  }
}
