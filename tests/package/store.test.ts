// Models over a bad network, in a bad cache, and without either.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { crc32 } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { MemoryCache } from '../../dist/models/cache.js';
import { Download } from '../../dist/models/download.js';
import { ModelStore as InnerStore } from '../../dist/models/store.js';
import { ModelStore, Translator } from '../../dist/node.js';
import { node } from '../../dist/runtime.node.js';
import { useRuntime } from '../../dist/runtime.js';
import { type Fault, FaultServer } from './fault-server.js';
import { registryOf, rejection, temporaryDirectory, tinyModel } from './tiny-model.js';

const tiny = tinyModel();
const { sha256, bytes: size } = tiny.entry;
const file = '/models/en-de/model.octavo';
const timing = { stall: 200, pause: 5, attempts: 3 };

let server: FaultServer;
let directory: ReturnType<typeof temporaryDirectory>;

const registry = (changes = {}) => registryOf({ ...tiny.entry, file: 'en-de/model.octavo', ...changes });
const newStore = () =>
  new ModelStore({
    registry: server.url('/models/registry.json'),
    directory: join(directory.path, 'cache'),
    timing,
  });

beforeAll(async () => {
  server = await new FaultServer().start();
});
afterAll(() => server.stop());
beforeEach(() => {
  directory = temporaryDirectory();
  server.requests.length = 0;
  server.put('/models/registry.json', registry());
  server.put(file, tiny.bytes);
  server.spoil(file);
  server.spoil('/models/registry.json');
});
afterEach(() => {
  useRuntime(node);
  directory.delete();
});

/** Opens the model and checks that it is the right one. */
async function open(store = newStore(), signal?: AbortSignal) {
  const progress: number[] = [];
  const opened = await store.open('en', 'de', (loaded) => progress.push(loaded), signal);
  expect(
    createHash('sha256')
      .update(await opened.read())
      .digest('hex'),
  ).toBe(sha256);
  return progress;
}

describe('a download', () => {
  test('tells its progress in bytes and asks for nothing but registry and model', async () => {
    const progress = await open();
    expect(progress[0]).toBe(0);
    expect(progress.at(-1)).toBe(size);
    expect(server.requests.map(({ path }) => path)).toEqual(['/models/registry.json', file]);
  });

  test('is resumed where it was cut, as often as it takes', async () => {
    server.spoil(file, { cutAfter: 30_000 }, { cutAfter: 1 }, { cutAfter: 20_000 });
    await open();
    expect(server.ranges(file)).toEqual(['', 'bytes=30000-', 'bytes=30001-', 'bytes=50001-']);
  });

  test.each<[string, Fault, string]>([
    ['before the headers', { noAnswer: true }, ''],
    ['at 0 bytes', { cutAfter: 0 }, ''],
    ['at 1 byte', { cutAfter: 1 }, 'bytes=1-'],
    ['before the last byte', { cutAfter: size - 1 }, `bytes=${String(size - 1)}-`],
  ])('that is cut %s goes on there', async (_, fault, range) => {
    server.spoil(file, fault);
    await open();
    expect(server.ranges(file)).toEqual(['', range]);
  });

  test('is resumed after silence', async () => {
    server.spoil(file, { stallAfter: 10_000 });
    await open();
    expect(server.ranges(file)).toEqual(['', 'bytes=10000-']);
  });

  test('begins again where the server cannot resume', async () => {
    server.spoil(file, { cutAfter: 30_000 }, { noRange: true });
    await open();
    expect(server.ranges(file)).toEqual(['', 'bytes=30000-']);
  });

  test('goes on in a later visit', async () => {
    server.spoil(file, { cutAfter: 50_000 }, { status: 503 }, { status: 503 }, { status: 503 });
    expect((await rejection(open())).name).toBe('NetworkError');
    const progress = await open();
    expect(progress[0]).toBe(50_000);
    expect(server.ranges(file).at(-1)).toBe('bytes=50000-');
    expect(await newStore().list()).toHaveLength(1);
  });

  test('begins again if the beginning was of another file', async () => {
    server.spoil(file, { wrongByte: true, cutAfter: 50_000 }, { status: 404 });
    expect((await rejection(open())).name).toBe('NetworkError');
    await open();
    expect(server.ranges(file).slice(-2)).toEqual(['bytes=50000-', '']);
  });

  test('survives errors of the server that pass, and redirections', async () => {
    server.put('/elsewhere', tiny.bytes);
    server.spoil(file, { status: 500 }, { status: 429 }, { redirect: '/elsewhere' });
    await open();
  });

  test('follows a redirection to another host, again when it is resumed', async () => {
    const other = await new FaultServer().start();
    try {
      other.put('/mirror', tiny.bytes);
      other.spoil('/mirror', { cutAfter: 30_000 });
      server.spoil(file, ...Array<Fault>(2).fill({ redirect: other.url('/mirror') }));
      await open();
      expect(other.ranges('/mirror')).toEqual(['', 'bytes=30000-']);
    } finally {
      await other.stop();
    }
  });

  test('that turns out too long after a cut leaves nothing to go on with', async () => {
    server.spoil(file, { cutAfter: 30_000 }, { extraBytes: 100, noLength: true });
    expect((await rejection(open())).message).toMatch(/longer than/);
    expect(readdirSync(join(directory.path, 'cache')).filter((name) => name.startsWith('partial-'))).toEqual(
      [],
    );
    await open();
    expect(server.ranges(file)).toEqual(['', 'bytes=30000-', '']);
  });

  test('that never ends is given up at the limit, and the connection closed', async () => {
    const { hungUp } = server;
    server.spoil(file, { endless: true });
    const { signal } = new AbortController();
    const limit = 1_000_000;
    const progress: number[] = [];
    const onProgress = (loaded: number) => progress.push(loaded);
    const url = new URL(server.url(file));
    const download = new Download({
      url,
      bytes: undefined,
      limit,
      partial: undefined,
      signal,
      onProgress,
      timing,
    });
    const error = await rejection(download.run());
    expect(error.name).toBe('NetworkError');
    expect(error.message).toMatch(/longer than the 1000000 bytes that a model can have: choose another/);
    expect(progress.at(-1)).toBeGreaterThan(limit / 2);
    expect(Math.max(...progress)).toBeLessThanOrEqual(limit);
    expect(download.received.size).toBe(0);
    await waitUntil(() => server.hungUp > hungUp);
  });

  test('by address that announces more than any model has is refused at once', async () => {
    const { hungUp } = server;
    server.spoil(file, { endless: { length: 2 ** 31 + 1 } });
    const progress: number[] = [];
    const error = await rejection(newStore().openSource(server.url(file), (loaded) => progress.push(loaded)));
    expect(error.name).toBe('NetworkError');
    expect(error.message).toMatch(/longer than the 2147483648 bytes that a model can have/);
    expect(progress).toEqual([0]);
    await waitUntil(() => server.hungUp > hungUp);
  });

  test.each<[string, Fault[], RegExp]>([
    ['not there', [{ status: 404 }], /answered 404/],
    ['forbidden', [{ status: 403 }], /answered 403/],
    ['always broken', [{ status: 500 }, { status: 500 }, { status: 500 }], /answered 500/],
    ['another file', [{ wrongByte: true }], /SHA-256/],
    ['too long', [{ extraBytes: 100 }], /longer than/],
    ['too short', Array<Fault>(9).fill({ extraBytes: -100 }), /could not be downloaded/],
    ['silent', Array<Fault>(9).fill({ stallAfter: 0 }), /silent/],
    ['never answered', Array<Fault>(9).fill({ noAnswer: true }), /could not be downloaded/],
    ['redirected in circles', Array<Fault>(99).fill({ redirect: file }), /redirect/],
  ])('that is %s fails with a NetworkError, and the next one works', async (_, faults, message) => {
    server.spoil(file, ...faults);
    const error = await rejection(open());
    expect(error.name).toBe('NetworkError');
    expect(error.message).toMatch(message);
    expect(await newStore().list()).toEqual([]);
    server.spoil(file);
    await open();
  });

  test('can be aborted, and keeps what it has', async () => {
    server.spoil(file, { stallAfter: 40_000 });
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort();
    }, 50);
    const error = await rejection(open(newStore(), controller.signal));
    expect(error.name).toBe('AbortError');
    await waitUntil(() =>
      readdirSync(join(directory.path, 'cache')).some((name) => name.startsWith('partial-')),
    );
    await open();
    expect(server.ranges(file)).toEqual(['', 'bytes=40000-']);
  });
});

describe('a cache', () => {
  test('makes the second time fast and offline', async () => {
    await open();
    server.spoil('/models/registry.json', { status: 500 });
    server.spoil(file, { status: 500 });
    await open();
    expect(server.ranges(file)).toHaveLength(1);
  });

  test.each([
    ['changed', (bytes: Uint8Array) => bytes.fill(7, 1000, 1010)],
    ['cut', (bytes: Uint8Array) => bytes.subarray(0, 1000)],
    ['emptied', () => new Uint8Array()],
  ])('with a %s file is mended', async (_, spoil) => {
    await open();
    const cached = join(directory.path, 'cache', `model-${sha256}.octavo`);
    writeFileSync(cached, spoil(readFileSync(cached)));
    await open();
    expect(server.ranges(file)).toEqual(['', '']);
  });

  test.each([
    ['cannot be had', Array<Fault>(timing.attempts).fill({ status: 500 })],
    ['is not what it should be', []],
  ])('gives an older model, if the newer one %s', async (_, faults) => {
    await open();
    server.put('/models/registry.json', registry({ sha256: '0'.repeat(64) }));
    server.spoil(file, ...faults);
    await open();
    expect(await newStore().availability('en', 'de')).toBe('downloadable');
    writeFileSync(join(directory.path, 'cache', `model-${sha256}.octavo`), 'no model');
    server.spoil(file, ...faults);
    expect((await rejection(open())).name).toBe('NetworkError');
  });

  test('with a broken note is mended', async () => {
    await open();
    writeFileSync(join(directory.path, 'cache', `model-${sha256}.json`), '{"kind":');
    await open();
    expect(server.ranges(file)).toEqual(['', '']);
    expect(await newStore().list()).toHaveLength(1);
  });

  test('that is full of broken notes lists nothing of them, and is cleared of them, but not of the files of others', async () => {
    await open();
    const cache = join(directory.path, 'cache');
    for (const name of readdirSync(cache).filter((found) => found.endsWith('.json')))
      writeFileSync(join(cache, name), 'null');
    writeFileSync(join(cache, 'registry.json'), registry());
    writeFileSync(join(cache, 'mine.octavo'), tiny.bytes);
    const store = newStore();
    expect(await store.list()).toEqual([]);
    server.spoil('/models/registry.json', { status: 500 });
    expect((await rejection(open(store))).message).toMatch(/answered 500/);
    expect(await store.availability('en', 'de')).toBe('downloadable');
    await store.clear();
    expect(readdirSync(cache).sort()).toEqual(['mine.octavo', 'registry.json']);
  });

  test('gives no older model that is not what its own name promises, whatever its note says', async () => {
    await open();
    const cached = join(directory.path, 'cache', `model-${sha256}`);
    const forged = new TextEncoder().encode('another model');
    const note = JSON.parse(readFileSync(`${cached}.json`, 'utf8')) as object;
    const forgedHash = createHash('sha256').update(forged).digest('hex');
    writeFileSync(`${cached}.octavo`, forged);
    writeFileSync(`${cached}.json`, JSON.stringify({ ...note, sha256: forgedHash }));
    server.put('/models/registry.json', registry({ sha256: '0'.repeat(64) }));
    server.spoil(file, { status: 404 });
    expect((await rejection(newStore().open('en', 'de'))).message).toMatch(/answered 404/);
  });

  test('that deletes nothing, as on a read-only disk, costs one more download', async () => {
    class Stubborn extends MemoryCache {
      override delete() {
        return Promise.reject<boolean>(new Error('read-only file system'));
      }
    }
    const cache = new Stubborn();
    await cache.put(
      `partial-model-${sha256}`,
      { kind: 'partial', url: server.url(file) },
      new Blob([new Uint8Array(50_000)]),
    );
    useRuntime({ ...node, openCache: () => cache });
    const open = () =>
      new InnerStore({ registry: server.url('/models/registry.json'), timing }).open('en', 'de');
    server.spoil(file, {}, { wrongByte: true });
    expect((await rejection(open())).message).toMatch(/SHA-256/);
    expect(server.ranges(file)).toEqual(['bytes=50000-', '']);
    expect(Buffer.from(await (await open()).read()).equals(tiny.bytes)).toBe(true);
    expect(server.ranges(file).slice(2)).toEqual(['bytes=50000-', '']);
  });

  test('that cannot be written to, as on a full disk, does not keep anybody from translating', async () => {
    mkdirSync(directory.path, { recursive: true });
    writeFileSync(join(directory.path, 'cache'), 'a file where the directory should be');
    await open();
    await open();
    expect(server.ranges(file)).toHaveLength(2);
  });

  test('is listed and deleted from', async () => {
    const store = newStore();
    await open(store);
    const [model] = await store.list();
    expect(model).toMatchObject({
      name: 'tiny',
      sourceLanguage: 'en',
      targetLanguage: 'de',
      bytes: size,
      sha256,
    });
    expect(Date.now() - Number(model?.stored)).toBeLessThan(60_000);
    expect(await store.availability('en', 'de')).toBe('available');
    expect(await store.delete(model?.id ?? '')).toBe(true);
    expect(await store.delete(model?.id ?? '')).toBe(false);
    expect(await store.list()).toEqual([]);
    expect(await store.availability('en', 'de')).toBe('downloadable');
    await open(store);
    await store.clear();
    expect(readdirSync(join(directory.path, 'cache'))).toEqual([]);
  });

  test('leaves no temporary files', async () => {
    await Promise.all([open(), open(), open()]);
    const names = readdirSync(join(directory.path, 'cache'));
    expect(names.filter((name) => !/^(model|registry)-[\da-f]+\.(octavo|json)$/.test(name))).toEqual([]);
  });
});

describe('two stores at once', () => {
  test('share one download', async () => {
    const progress = await Promise.all([open(newStore()), open(newStore())]);
    expect(progress.map((list) => list.at(-1))).toEqual([size, size]);
    expect(server.ranges(file)).toEqual(['']);
  });

  test('do not stop each other', async () => {
    server.spoil(file, { stallAfter: 10_000 });
    const controller = new AbortController();
    const first = rejection(open(newStore(), controller.signal));
    const second = open(newStore());
    await waitUntil(() => server.ranges(file).length === 1);
    expect(await newStore().availability('en', 'de')).toBe('downloading');
    controller.abort();
    expect((await first).name).toBe('AbortError');
    await second;
    expect(server.ranges(file)).toEqual(['', 'bytes=10000-']);
  });
});

describe('a registry', () => {
  test.each([
    ['is not there', { status: 404 }, undefined, /answered 404/],
    ['is not JSON', {}, '<html>', /not a registry/],
    ['is of the future', {}, '{"version": 2, "models": []}', /version 1/],
    ['lacks checksums', {}, registry({ sha256: 'none' }), /SHA-256/],
    ['lacks sizes', {}, registry({ bytes: -1 }), /size/],
    [
      'promises more than memory could hold',
      {},
      registry({ bytes: 2 ** 31 + 1 }),
      /no size from 1 to 2147483648 bytes/,
    ],
    ['names a file of this machine', {}, registry({ file: 'file:///etc/hostname' }), /file of this machine/],
    ['never ends', { endless: true }, undefined, /longer than 1 MB/],
    ['is never sent', { noAnswer: true }, undefined, /No registry of models/],
    ['is cut', { cutAfter: 20 }, undefined, /No registry of models/],
  ])('that %s is told about', async (_, fault, text, message) => {
    if (text !== undefined) server.put('/models/registry.json', text);
    server.spoil('/models/registry.json', fault);
    const error = await rejection(open());
    expect(error.name).toBe('NetworkError');
    expect(error.message).toMatch(message);
    server.spoil('/models/registry.json', fault);
    expect(await newStore().availability('en', 'de')).toBe('unavailable');
  });

  test.each<[string, Fault]>([
    ['never sent', { noAnswer: true }],
    ['cut at 0 bytes', { cutAfter: 0 }],
    ['cut', { cutAfter: 20 }],
    ['redirected in circles', { redirect: '/models/registry.json' }],
    ['endless', { endless: true }],
  ])('that is %s is taken from the copy that was kept', async (_, fault) => {
    await open();
    server.spoil('/models/registry.json', ...Array<Fault>(30).fill(fault));
    await open();
    expect(server.ranges(file)).toHaveLength(1);
    // A copy that is broken, too, is no help, and no reason to blame the registry for it.
    const cache = join(directory.path, 'cache');
    for (const name of readdirSync(cache).filter((found) => /^registry-.*\.octavo$/.test(found)))
      writeFileSync(join(cache, name), '{');
    server.spoil('/models/registry.json', ...Array<Fault>(30).fill(fault));
    expect((await rejection(open())).message).toMatch(/^No registry of models at/);
  });

  test('that falls silent is given up after a while', async () => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const hurry = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(100));
    try {
      for (const stallAfter of [0, 20]) {
        server.spoil('/models/registry.json', { stallAfter });
        const error = await rejection(open());
        expect(error.name).toBe('NetworkError');
        expect(error.message).toMatch(/No registry of models .* timeout/);
      }
      expect(hurry).toHaveBeenCalledWith(15_000);
    } finally {
      hurry.mockRestore();
    }
  });

  test('may be a file, and its models too', async () => {
    mkdirSync(join(directory.path, 'en-de'), { recursive: true });
    writeFileSync(join(directory.path, 'en-de/model.octavo'), tiny.bytes);
    const path = join(directory.path, 'registry.json');
    writeFileSync(path, registry());
    for (const location of [path, pathToFileURL(path), pathToFileURL(path).href]) {
      const store = new ModelStore({ registry: location, directory: join(directory.path, 'cache') });
      expect(await store.availability('en-GB', 'de-AT')).toBe('available');
      await open(store);
    }
    rmSync(join(directory.path, 'en-de/model.octavo'));
    const store = new ModelStore({ registry: path });
    expect(await store.availability('en', 'de')).toBe('unavailable');
    expect((await rejection(open(store))).message).toMatch(/no model at/);
    writeFileSync(join(directory.path, 'en-de/model.octavo'), tiny.bytes);
    writeFileSync(path, registry({ sha256: '0'.repeat(64) }));
    expect((await rejection(open(new ModelStore({ registry: path })))).message).toMatch(/SHA-256/);
    expect(server.requests).toEqual([]);
  });
});

test('a model by its address is downloaded once, and then kept', async () => {
  const store = newStore();
  for (let i = 0; i < 2; ++i) {
    const translator = await Translator.create({ model: server.url(file), store });
    expect(translator.targetLanguage).toBe('de');
    translator.destroy();
  }
  expect(server.requests.map(({ path }) => path)).toEqual([file]);
  expect(await store.list()).toHaveLength(1);
});

test('what an address gives is not kept, if it turns out to be no model', async () => {
  const store = newStore();
  server.put(file, '<!DOCTYPE html><title>Log in to this network</title>');
  const create = () => Translator.create({ model: server.url(file), store });
  expect((await rejection(create())).name).toBe('OperationError');
  expect(await store.list()).toEqual([]);
  server.put(file, tiny.bytes);
  (await create()).destroy();
});

describe('a model that describes itself', () => {
  test.each([
    ['in no JSON', '{"source":'],
    ['as nothing', 'null'],
    ['with a number for a language', '{"source": 7, "target": "de"}'],
    ['with no language', '{"source": "en", "target": "no language at all"}'],
  ])('%s is refused, and not kept', async (_, description) => {
    const store = newStore();
    server.put(file, describedAs(description));
    const create = () => Translator.create({ model: server.url(file), store });
    const error = await rejection(create());
    expect(error.name).toBe('OperationError');
    expect(error.message).toMatch(/description in the model cannot be read: choose another/);
    expect(await store.list()).toEqual([]);
    server.put(file, describedAs('{"source": "EN", "target": "de"}'));
    const translator = await create();
    expect(translator.sourceLanguage).toBe('en');
    translator.destroy();
  });
});

/** The tiny model with another description, and the checksum that belongs to it. */
function describedAs(description: string): Uint8Array {
  const [lengthAt, checksumAt, descriptionAt] = [68, 76, 128]; // as in engine/src/model_file.h
  const bytes = Buffer.from(tiny.bytes);
  bytes.write(description.padEnd(bytes.readUInt32LE(lengthAt)), descriptionAt);
  bytes.writeUInt32LE(0, checksumAt);
  bytes.writeUInt32LE(crc32(bytes), checksumAt);
  return bytes;
}

async function waitUntil(condition: () => boolean) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
