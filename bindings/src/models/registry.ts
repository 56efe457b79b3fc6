// The list of models that exist, and reading it: from the network, or offline from the copy that was kept.
import { failure, messageOf } from '../errors.js';
import { includedModels } from '../included.js';
import { canonicalTag } from '../languages.js';
import type { Runtime } from '../runtime.js';
import type { ModelCache } from './cache.js';
import { type ModelFile, sha256 } from './file.js';
import { maxModelBytes, receive } from './receive.js';

/** A model that a registry offers. */
export interface RegistryModel {
  /** The language that it translates from (BCP 47). */
  readonly source: string;
  /** The language that it translates to (BCP 47). */
  readonly target: string;
  /** What people call it. */
  readonly name: string;
  /** Where the file is, seen from the registry. */
  readonly file: string;
  /** The size of the file. */
  readonly bytes: number;
  /** Of the file, in hexadecimal. */
  readonly sha256: string;
  /** Of the model, as an SPDX identifier. */
  readonly license: string;
}

/** Models to choose from, and where the list came from. */
export interface Registry {
  /** For messages. */
  readonly place: string;
  readonly models: readonly OfferedModel[];
}

/** A model with its whole address. */
export interface OfferedModel extends RegistryModel {
  readonly url: URL;
}

/** The models that come with the package. */
export const includedRegistry = (): Registry => ({
  place: 'the package',
  models: includedModels.map(({ url: address, ...model }) => {
    const url = address();
    return { ...model, file: url.href, url };
  }),
});

// A registry is small. Whoever takes longer than this is as good as offline, and whoever sends more means no good.
const timeoutMilliseconds = 15_000;
const maxLength = 1_000_000;

/** Reads a registry; what cannot be reached now is taken from the cache. */
export async function readRegistry(
  runtime: Runtime,
  cache: ModelCache,
  url: URL,
  signal?: AbortSignal,
): Promise<Registry> {
  if (url.protocol === 'file:') {
    const file = await runtime.openFile(url).catch((error: unknown) => {
      throw failure('NetworkError', `There is no registry of models at ${url.href}.`, error);
    });
    return read(file, url);
  }
  const key = `registry-${(await sha256(new TextEncoder().encode(url.href))).slice(0, 16)}`;
  try {
    const text = await fetchText(url, signal);
    const registry = parse(text, url);
    await cache.put(key, { kind: 'registry', url: url.href }, new Blob([text])).catch(() => undefined);
    return registry;
  } catch (error) {
    signal?.throwIfAborted();
    return cache
      .get(key)
      .then((kept) => read(kept?.file, url))
      .catch(() => {
        throw error; // there is no copy, or a broken one
      });
  }
}

const read = async (file: ModelFile | undefined, url: URL) =>
  parse(new TextDecoder().decode(await file?.read()), url);

async function fetchText(url: URL, signal: AbortSignal | undefined): Promise<string> {
  const timeout = AbortSignal.timeout(timeoutMilliseconds);
  const remedy = 'The option `registry` says where it is.';
  try {
    const response = await fetch(url, { signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
    if (!response.ok) throw new Error(`the server answered ${String(response.status)}`);
    const decoder = new TextDecoder();
    let text = '';
    await receive(response, (chunk) => {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > maxLength) throw new Error('it is longer than 1 MB');
    });
    return text;
  } catch (error) {
    throw failure(
      'NetworkError',
      `No registry of models at ${url.href}: ${messageOf(error)}. ${remedy}`,
      error,
    );
  }
}

/** Reads a registry's JSON with the distrust that what comes from a network deserves. */
function parse(text: string, url: URL): Registry {
  try {
    const { version, models } = JSON.parse(text) as { version?: unknown; models?: unknown };
    if (version !== 1 || !Array.isArray(models)) throw new Error('it is not of version 1');
    const place = url.href;
    return { place, models: models.map((model: object) => checked(model, url)) };
  } catch (error) {
    throw failure('NetworkError', `${url.href} is not a registry of models: ${messageOf(error)}.`, error);
  }
}

function checked(model: Partial<Record<keyof RegistryModel, unknown>>, registry: URL): OfferedModel {
  const { source, target, name, file, bytes, sha256: hash, license } = model;
  if (typeof source !== 'string' || typeof target !== 'string') throw new Error('a model has no languages');
  if (typeof file !== 'string' || typeof name !== 'string') throw new Error('a model has no name or no file');
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes <= 0 || bytes > maxModelBytes)
    throw new Error(`${name} has no size from 1 to ${String(maxModelBytes)} bytes`);
  if (typeof hash !== 'string' || !/^[\da-f]{64}$/.test(hash)) throw new Error(`${name} has no SHA-256`);
  const url = new URL(file, registry);
  if (url.protocol === 'file:' && registry.protocol !== 'file:')
    throw new Error(`${name} is a file of this machine, and the registry is not`);
  return {
    source: canonicalTag(source),
    target: canonicalTag(target),
    name,
    file,
    url,
    bytes,
    sha256: hash,
    license: typeof license === 'string' ? license : '',
  };
}
