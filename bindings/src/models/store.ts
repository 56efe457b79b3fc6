// Models: found in a registry, downloaded once, verified, kept, listed and deleted.
import { failure } from '../errors.js';
import { bestMatch, canonicalTag } from '../languages.js';
import { type Runtime, runtime as currentRuntime } from '../runtime.js';
import type { ModelCache, Note } from './cache.js';
import { Download, type DownloadTiming, type Progress, defaultTiming } from './download.js';
import { blobFile, type ModelFile, sha256 } from './file.js';
import { maxModelBytes } from './receive.js';
import {
  type OfferedModel,
  type Registry,
  type RegistryModel,
  includedRegistry,
  readRegistry,
} from './registry.js';
import { Shared } from './shared.js';

/** A model as a caller may give it: a path (Node), an address, a `File`, or its bytes. */
export type ModelSource = string | URL | Blob | ArrayBuffer | ArrayBufferView<ArrayBuffer>;

/** Whether a pair of languages can be translated, as in the web's own API. */
export type Availability = 'unavailable' | 'downloadable' | 'downloading' | 'available';

/** Where a store looks for models and where it keeps them. */
export interface ModelStoreOptions {
  /** The address (or, in Node, the path) of a registry; without one, the store offers the models that come with the package. */
  registry?: string | URL | undefined;
  /** Where downloads are kept (Node only); by default in the user's cache directory. */
  directory?: string | undefined;
  /** When to lose patience with a server, in milliseconds. */
  timing?: Partial<DownloadTiming> | undefined;
}

/** A model that the store holds. */
export interface StoredModel {
  /** What `delete` takes. */
  readonly id: string;
  /** What people call it; its address, if it came without a registry. */
  readonly name: string;
  /** The language that it translates from, if a registry told it. */
  readonly sourceLanguage: string | undefined;
  /** The language that it translates to, if a registry told it. */
  readonly targetLanguage: string | undefined;
  /** The size of the file. */
  readonly bytes: number;
  /** Of the file, in hexadecimal. */
  readonly sha256: string;
  /** As an SPDX identifier, if a registry told it. */
  readonly license: string | undefined;
  /** Where it was downloaded from. */
  readonly url: string;
  /** When that was. */
  readonly stored: Date | undefined;
}

/** Something to download, with what is known of it before. */
interface Wanted {
  key: string;
  url: URL;
  bytes?: number;
  sha256?: string;
  note: Partial<Note>;
}

// Downloads that are under way in this program, whichever store began them.
const underWay = new Map<string, Shared<ModelFile>>();

/** The models that are on this machine or can be downloaded to it. */
export class ModelStore {
  readonly #runtime: Runtime = currentRuntime();
  readonly #cache: ModelCache;
  readonly #registry: URL | undefined;
  readonly #timing: DownloadTiming;

  /** A store that offers what a registry lists; several stores share what they have downloaded. */
  constructor(options: ModelStoreOptions = {}) {
    const { registry, directory, timing } = options;
    this.#cache = this.#runtime.openCache(directory);
    this.#registry = registry === undefined ? undefined : this.#runtime.resolve(registry);
    this.#timing = { ...defaultTiming, ...timing };
  }

  /** The models that the registry offers. */
  async offered(signal?: AbortSignal): Promise<readonly RegistryModel[]> {
    return (await this.#readRegistry(signal)).models;
  }

  /** The models that have been downloaded. */
  async list(): Promise<StoredModel[]> {
    const entries = await this.#cache.list();
    return entries.flatMap(({ key, note, bytes }) => {
      if (note?.kind !== 'model') return [];
      return {
        id: key,
        name: note.name ?? note.url,
        sourceLanguage: note.source,
        targetLanguage: note.target,
        bytes,
        sha256: note.sha256 ?? '',
        license: note.license,
        url: note.url,
        stored: note.stored === undefined ? undefined : new Date(note.stored),
      };
    });
  }

  /** Deletes a downloaded model, by its `id`. Returns whether there was one. */
  async delete(id: string): Promise<boolean> {
    await this.#cache.delete(partialKey(id));
    return this.#cache.delete(id);
  }

  /** Deletes everything that was downloaded. */
  async clear(): Promise<void> {
    for (const { key } of await this.#cache.list()) await this.#cache.delete(key);
  }

  /** Whether the store has, or could get, a model for these languages. */
  async availability(sourceLanguage: string, targetLanguage: string): Promise<Availability> {
    const [source, target] = [canonicalTag(sourceLanguage), canonicalTag(targetLanguage)];
    const registry = await this.#readRegistry().catch(() => undefined);
    const model = registry && bestMatch(registry.models, source, target);
    if (!model) return 'unavailable';
    const { key, url } = wantedOf(model);
    if (underWay.has(this.#workName(key))) return 'downloading';
    const local = url.protocol === 'file:';
    const opening = local ? this.#runtime.openFile(url) : this.#cache.get(key);
    if (await opening.catch(() => undefined)) return 'available';
    return local ? 'unavailable' : 'downloadable';
  }

  /** The model for a pair of languages, downloaded if need be; where that fails, an older one if there is one. */
  async open(
    sourceLanguage: string,
    targetLanguage: string,
    onProgress: Progress = () => undefined,
    signal?: AbortSignal,
  ): Promise<ModelFile> {
    const registry = await this.#readRegistry(signal);
    const model = bestMatch(registry.models, canonicalTag(sourceLanguage), canonicalTag(targetLanguage));
    if (!model) {
      const pair = `${sourceLanguage} to ${targetLanguage}`;
      throw failure(
        'NotSupportedError',
        `There is no model that translates from ${pair} in ${registry.place}.`,
      );
    }
    const wanted = wantedOf(model);
    try {
      return await this.#get(wanted, onProgress, signal);
    } catch (error) {
      const older = (error as Error).name === 'NetworkError' ? await this.#older(wanted) : undefined;
      if (!older) throw error;
      return older;
    }
  }

  /** A model that the caller brings or names. One that is given by its address is downloaded once and then kept. */
  async openSource(
    model: ModelSource,
    onProgress: Progress = () => undefined,
    signal?: AbortSignal,
  ): Promise<ModelFile> {
    if (typeof model !== 'string' && !(model instanceof URL)) {
      return blobFile('stream' in model ? model : new Blob([model]));
    }
    const url = this.#runtime.resolve(model);
    const key = `url-${await sha256(new TextEncoder().encode(url.href))}`;
    const file = await this.#get({ key, url, note: {} }, onProgress, signal);
    return url.protocol === 'file:' ? file : { ...file, discard: () => this.#cache.delete(key) };
  }

  async #readRegistry(signal?: AbortSignal): Promise<Registry> {
    if (!this.#registry) return includedRegistry();
    return readRegistry(this.#runtime, this.#cache, this.#registry, signal);
  }

  #workName(key: string): string {
    return `octavo ${this.#cache.place} ${key}`;
  }

  async #get(wanted: Wanted, onProgress: Progress, signal: AbortSignal | undefined): Promise<ModelFile> {
    if (wanted.url.protocol === 'file:') {
      const file = await this.#runtime.openFile(wanted.url);
      if (wanted.sha256) await verify(await file.read(), wanted.sha256, wanted.url);
      return file;
    }
    const name = this.#workName(wanted.key);
    let work = underWay.get(name);
    if (!work || work.abandoned) {
      work = new Shared((stop, progress) =>
        this.#runtime.locked(
          name,
          stop,
          async () => (await this.#cached(wanted)) ?? this.#download(wanted, progress, stop),
        ),
      );
      const mine = work;
      underWay.set(name, mine);
      void mine.settled.then(() => {
        if (underWay.get(name) === mine) underWay.delete(name);
      });
    }
    return work.join(signal, onProgress);
  }

  /** What the cache has, if it is still what was put there; what is not is thrown away. */
  async #cached({ key, sha256: promised }: Wanted): Promise<ModelFile | undefined> {
    const entry = await this.#cache.get(key).catch(() => undefined);
    if (!entry) return undefined;
    const expected = promised ?? entry.note.sha256;
    const actual = await entry.file.read().then(sha256, () => undefined);
    if (expected === actual) return entry.file;
    await this.#cache.delete(key).catch(() => undefined);
    return undefined;
  }

  /** What was downloaded before the registry had another model for the same languages: better than none in an aeroplane. */
  async #older({ url, note }: Wanted): Promise<ModelFile | undefined> {
    for (const { key, note: old } of await this.#cache.list().catch(() => [])) {
      if (old?.source !== note.source || old?.target !== note.target) continue;
      // The key has the hash that a registry promised; a note may say anything.
      const file =
        old?.sha256 && key === modelKey(old.sha256) && (await this.#cached({ key, url, note: old }));
      if (file) return file;
    }
    return undefined;
  }

  /** Downloads a model, from where an earlier attempt has ended unless a fresh start is asked for. */
  async #download(
    wanted: Wanted,
    onProgress: Progress,
    signal: AbortSignal,
    fresh = false,
  ): Promise<ModelFile> {
    const { key, url, bytes, note } = wanted;
    const partial = fresh ? undefined : await this.#partial(wanted).catch(() => undefined);
    onProgress(partial?.size ?? 0, bytes ?? 0);
    const timing = this.#timing;
    const download = new Download({ url, bytes, limit: maxModelBytes, partial, signal, onProgress, timing });
    let data: Blob;
    try {
      data = await download.run();
    } catch (error) {
      await this.#keepPartial(wanted, download.received);
      throw error;
    }
    await this.#cache.delete(partialKey(key)).catch(() => undefined);
    let hash: string;
    try {
      hash = await verify(new Uint8Array(await data.arrayBuffer()), wanted.sha256, url);
    } catch (error) {
      if (!partial) throw error;
      // The old beginning and the new end were of different files. It may still be there: a cache can be read-only.
      return this.#download(wanted, onProgress, signal, true);
    }
    try {
      const about: Note = { ...note, kind: 'model', url: url.href, sha256: hash, stored: Date.now() };
      await this.#cache.put(key, about, data);
      return (await this.#cache.get(key))?.file ?? blobFile(data);
    } catch {
      return blobFile(data); // no space left: translate all the same, and download again next time
    }
  }

  async #partial({ key }: Wanted): Promise<Blob | undefined> {
    const kept = await this.#cache.get(partialKey(key));
    return kept && new Blob([await kept.file.read()]);
  }

  async #keepPartial({ key, url }: Wanted, received: Blob): Promise<void> {
    if (received.size === 0) return;
    await this.#cache
      .put(partialKey(key), { kind: 'partial', url: url.href }, received)
      .catch(() => undefined);
  }
}

const modelKey = (hash: string) => `model-${hash}`;
const partialKey = (key: string) => `partial-${key}`;

function wantedOf({ source, target, name, license, url, bytes, sha256: hash }: OfferedModel): Wanted {
  return { key: modelKey(hash), url, bytes, sha256: hash, note: { source, target, name, license } };
}

async function verify(
  bytes: Uint8Array<ArrayBuffer>,
  expected: string | undefined,
  url: URL,
): Promise<string> {
  const actual = await sha256(bytes);
  if (expected !== undefined && actual !== expected) {
    throw failure(
      'NetworkError',
      `${url.href} is not the file that the registry promises: its SHA-256 is ${actual}.`,
    );
  }
  return actual;
}
