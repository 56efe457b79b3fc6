// Where downloaded bytes are kept: named blobs, each with a note that says what it is.
import { blobFile, type ModelFile } from './file.js';

/** What is written beside cached bytes. */
export interface Note {
  /** A whole model, the beginning of one, or a copy of a registry. */
  kind: 'model' | 'partial' | 'registry';
  /** Where it came from. */
  url: string;
  sha256?: string | undefined;
  name?: string | undefined;
  source?: string | undefined;
  target?: string | undefined;
  license?: string | undefined;
  /** When it was stored: milliseconds since 1970. */
  stored?: number | undefined;
}

/** A store of blobs. What `put` has finished is there whole, or not at all. */
export interface ModelCache {
  /** Tells caches apart that are not the same place. */
  readonly place: string;
  get(key: string): Promise<{ note: Note; file: ModelFile } | undefined>;
  /** Fails when there is no space. */
  put(key: string, note: Note, data: Blob): Promise<void>;
  /** Whether there was something to delete. */
  delete(key: string): Promise<boolean>;
  /** What has no readable note does not exist for `get`; it is listed to be deleted. */
  list(): Promise<{ key: string; note: Note | null | undefined; bytes: number }[]>;
}

/** Forgets everything when the page is left: for where there is nothing better. */
export class MemoryCache implements ModelCache {
  readonly place = 'memory';
  readonly #entries = new Map<string, { note: Note; file: ModelFile }>();

  get(key: string) {
    return Promise.resolve(this.#entries.get(key));
  }

  put(key: string, note: Note, data: Blob) {
    this.#entries.set(key, { note, file: blobFile(data) });
    return Promise.resolve();
  }

  delete(key: string) {
    return Promise.resolve(this.#entries.delete(key));
  }

  list() {
    return Promise.resolve(
      Array.from(this.#entries, ([key, { note, file }]) => ({ key, note, bytes: file.size })),
    );
  }
}
