// The browsers' entry with just enough of a browser around it: their workers, Cache API and locks, played by Node.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker as Thread } from 'node:worker_threads';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type * as octavo from '../../dist/index.js';
import { FaultServer } from './fault-server.js';
import { rejection, temporaryDirectory, tinyModel } from './tiny-model.js';

const tiny = tinyModel();
const directory = temporaryDirectory();
let server: FaultServer;
let Translator: typeof octavo.Translator;
let ModelStore: typeof octavo.ModelStore;

// What a dedicated worker has, made of what a thread has.
const prelude = join(directory.path, 'prelude.mjs');
writeFileSync(
  prelude,
  `import { parentPort, workerData } from 'node:worker_threads';
  globalThis.postMessage = (message) => parentPort.postMessage(message);
  globalThis.addEventListener = (type, handler) => parentPort.on(type, (data) => handler({ data }));
  await import(workerData);`,
);

class FakeWorker {
  static script: string | undefined;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: ((event: { message: string; preventDefault(): void }) => void) | null = null;
  readonly #thread: Thread;

  constructor(url: URL, { type }: { type: string }) {
    expect(type).toBe('module');
    this.#thread = new Thread(prelude, { workerData: FakeWorker.script ?? url.href });
    this.#thread.on('message', (data) => this.onmessage?.({ data }));
    this.#thread.on('error', () => this.onerror?.({ message: '', preventDefault: () => undefined }));
  }
  postMessage(message: unknown) {
    this.#thread.postMessage(message);
  }
  terminate() {
    void this.#thread.terminate();
  }
}

/** The Cache API; `full` makes it run out of space. */
class FakeCache {
  full = false;
  readonly entries = new Map<string, { body: Blob; headers: Headers }>();
  match(url: string) {
    const entry = this.entries.get(url);
    return Promise.resolve(entry && new Response(entry.body, { headers: entry.headers }));
  }
  async put(url: string, response: Response) {
    if (this.full) throw new DOMException('no space', 'QuotaExceededError');
    this.entries.set(url, { body: await response.blob(), headers: response.headers });
  }
  delete(url: string) {
    return Promise.resolve(this.entries.delete(url));
  }
  keys() {
    return Promise.resolve(Array.from(this.entries.keys(), (url) => ({ url })));
  }
}

/** Locks that other tabs may hold. */
class FakeLocks {
  #last: Promise<unknown> = Promise.resolve();
  request(_name: string, _options: object, work: () => Promise<unknown>) {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

const cache = new FakeCache();
const locks = new FakeLocks();

beforeAll(async () => {
  const play = (name: string, value: unknown) =>
    Object.defineProperty(globalThis, name, { value, configurable: true });
  play('Worker', FakeWorker);
  play('caches', { open: () => Promise.resolve(cache) });
  play('navigator', { locks });
  play('location', { href: 'https://page.example/' });
  ({ Translator, ModelStore } = await import('../../dist/index.js'));
  server = await new FaultServer().start();
  const sha256 = createHash('sha256').update(tiny.bytes).digest('hex');
  const model = {
    source: 'en',
    target: 'de',
    name: 'tiny – ü',
    file: 'tiny.octavo',
    bytes: tiny.bytes.length,
    sha256,
  };
  server.put('/registry.json', JSON.stringify({ version: 1, models: [model] }));
  server.put('/tiny.octavo', tiny.bytes);
});
beforeEach(() => {
  cache.full = false;
  cache.entries.clear();
  server.requests.length = 0;
  server.spoil('/registry.json');
  server.spoil('/tiny.octavo');
});
afterAll(async () => {
  await server.stop();
  directory.delete();
});

const languages = { sourceLanguage: 'en', targetLanguage: 'de' };
const create = () => Translator.create({ ...languages, registry: server.url('/registry.json') });

/** Creates a translator, translates, and destroys it. */
async function translateOnce() {
  const translator = await create();
  const result = await translator.translate('The house is small. 42!');
  translator.destroy();
  return result;
}

test('translates in a worker, downloads once, and then works offline', async () => {
  const online = await translateOnce();
  expect(online).toContain('42');
  server.spoil('/registry.json', { status: 500 });
  server.spoil('/tiny.octavo', { status: 500 });
  expect(await translateOnce()).toBe(online);
  expect(server.ranges('/tiny.octavo')).toHaveLength(1);
});

test('mends a corrupt cache, and lists and deletes what it holds', async () => {
  const expected = await translateOnce();
  for (const entry of cache.entries.values()) entry.body = new Blob(['spoiled']);
  expect(await translateOnce()).toBe(expected);
  const store = new ModelStore({ registry: server.url('/registry.json') });
  const [model] = await store.list();
  expect(model).toMatchObject({ name: 'tiny – ü', bytes: tiny.bytes.length, sourceLanguage: 'en' });
  expect(await store.delete(model?.id ?? '')).toBe(true);
  expect(await store.availability('en', 'de')).toBe('downloadable');
});

test('goes on with a download that was cut in an earlier visit', async () => {
  const timing = { pause: 1, attempts: 2 };
  server.spoil('/tiny.octavo', { cutAfter: 50_000 }, { status: 503 });
  const store = new ModelStore({ registry: server.url('/registry.json'), timing });
  expect((await rejection(store.open('en', 'de'))).name).toBe('NetworkError');
  await translateOnce();
  expect(server.ranges('/tiny.octavo')).toEqual(['', 'bytes=50000-', 'bytes=50000-']);
});

test('translates although the quota is exceeded', async () => {
  cache.full = true;
  expect(await translateOnce()).toContain('42');
  expect(await translateOnce()).toContain('42');
  expect(server.ranges('/tiny.octavo')).toHaveLength(2);
});

test('waits for another tab that downloads the same model', async () => {
  let release: (() => void) | undefined;
  void locks.request('', {}, () => new Promise<void>((resolve) => (release = resolve)));
  const waiting = translateOnce();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(server.ranges('/tiny.octavo')).toEqual([]);
  release?.();
  expect(await waiting).toContain('42');
});

test('says that its worker cannot be loaded', async () => {
  FakeWorker.script = 'file:///nowhere/worker.js';
  const error = await rejection(create());
  FakeWorker.script = undefined;
  expect([error.name, error.message]).toEqual([
    'OperationError',
    expect.stringMatching(/could not be loaded/),
  ]);
});

test('reads neither paths nor files by their address', async () => {
  const error = await rejection(Translator.create({ model: 'file:///tmp/model.octavo' }));
  expect(error.name).toBe('NotSupportedError');
});
