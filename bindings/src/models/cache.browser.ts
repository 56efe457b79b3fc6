// The browser's Cache API: large files, on disk, for this origin only.
import type { ModelCache, Note } from './cache.js';
import { blobFile } from './file.js';

const cacheName = 'octavo';
const noteHeader = 'Octavo-Note';
// Entries need an address. Nothing is ever requested from it: the name is reserved to lead nowhere.
const base = 'https://octavo.invalid/';

/** The note of an entry, unless somebody else has spoilt it. */
function readNote({ headers }: Response): Note | null {
  try {
    return JSON.parse(decodeURIComponent(headers.get(noteHeader) ?? '')) as Note | null;
  } catch {
    return null;
  }
}

/** Keeps models in the Cache API. */
export class CacheStorageCache implements ModelCache {
  readonly place = 'CacheStorage';

  async get(key: string) {
    const response = await (await caches.open(cacheName)).match(base + key);
    const note = response && readNote(response);
    return note ? { note, file: blobFile(await response.blob()) } : undefined;
  }

  async put(key: string, note: Note, data: Blob) {
    const headers = {
      'Content-Length': String(data.size),
      [noteHeader]: encodeURIComponent(JSON.stringify(note)),
    };
    await (await caches.open(cacheName)).put(base + key, new Response(data, { headers }));
  }

  async delete(key: string) {
    return (await caches.open(cacheName)).delete(base + key);
  }

  async list() {
    const cache = await caches.open(cacheName);
    const entries = (await cache.keys()).map(async ({ url }) => {
      const response = await cache.match(url);
      if (!response) return []; // deleted meanwhile, in another tab
      const bytes = Number(response.headers.get('Content-Length'));
      return [{ key: url.slice(base.length), note: readNote(response), bytes }];
    });
    return (await Promise.all(entries)).flat();
  }
}
