// The web's own API, and what goes beyond it, on the real engine with the tiny model.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type CreateMonitor,
  ModelStore,
  type TranslatedSentence,
  type Translation,
  Translator,
} from '../../dist/node.js';
import type { FaultServer } from './fault-server.js';
import { rejection, temporaryDirectory, tinyModel, tinyServer } from './tiny-model.js';

const tiny = tinyModel();
const directory = temporaryDirectory();
const text =
  'The house is small. How are you, Dr. Smith?\n\n  - It costs 42.50 euros.\n  - See https://example.org/a?b=1.  ';

let server: FaultServer;
let translator: Translator;

const newStore = () =>
  new ModelStore({
    registry: server.url('/registry.json'),
    directory: directory.path,
    timing: { pause: 5, attempts: 2 },
  });

beforeAll(async () => {
  server = await tinyServer(tiny);
  translator = await Translator.create({ model: tiny.path });
});
afterAll(async () => {
  translator.destroy();
  await server.stop();
  directory.delete();
});

describe('availability and creation', () => {
  test('follow the download', async () => {
    const store = newStore();
    const pair = { sourceLanguage: 'en-GB', targetLanguage: 'de', store };
    expect(await Translator.availability(pair)).toBe('downloadable');
    const created = Translator.create(pair);
    const own = await created;
    expect(await Translator.availability(pair)).toBe('available');
    expect([own.sourceLanguage, own.targetLanguage, own.inputQuota]).toEqual(['en', 'de', Infinity]);
    expect(await own.translate(text)).toBe(await translator.translate(text));
    own.destroy();
  });

  test('tell progress, at least 0 and 1', async () => {
    const store = newStore();
    await store.clear();
    for (const expectBytes of [true, false]) {
      const events: { loaded: number; total: number; loadedBytes: number; totalBytes: number }[] = [];
      let handled = 0;
      const monitor = (m: CreateMonitor) => {
        m.addEventListener('downloadprogress', (event) => events.push(event));
        m.ondownloadprogress = () => handled++;
      };
      const own = await Translator.create({ sourceLanguage: 'en', targetLanguage: 'de', store, monitor });
      own.destroy();
      const loaded = events.map((event) => event.loaded);
      expect([loaded[0], loaded.at(-1)]).toEqual([0, 1]);
      expect(loaded).toEqual([...loaded].sort((a, b) => a - b));
      expect(handled).toBe(events.length);
      expect(events.every(({ total }) => total === 1)).toBe(true);
      expect(loaded.every((share) => Number.isInteger(share * 0x10000))).toBe(true);
      const bytes = expectBytes ? tiny.bytes.length : 0;
      expect([events.at(-1)?.loadedBytes, events.at(-1)?.totalBytes]).toEqual([bytes, bytes]);
    }
  });

  test.each([
    ['fr', 'de', 'unavailable', 'NotSupportedError'],
    ['en', 'zh-Hant', 'unavailable', 'NotSupportedError'],
    ['en-US', 'de-Latn-AT', 'available', undefined],
    ['und', 'de', 'unavailable', 'NotSupportedError'],
  ])('from %s to %s: %s', async (sourceLanguage, targetLanguage, availability, error) => {
    const pair = { sourceLanguage, targetLanguage, store: newStore() };
    await newStore().open('en', 'de');
    expect(await Translator.availability(pair)).toBe(availability);
    if (error) expect((await rejection(Translator.create(pair))).name).toBe(error);
    else (await Translator.create(pair)).destroy();
  });

  test('reject what makes no sense', async () => {
    const name = async (options: object) => (await rejection(Translator.create(options))).name;
    expect(await name({ sourceLanguage: 'en' })).toBe('TypeError');
    expect(await name({})).toBe('TypeError');
    expect(await name({ sourceLanguage: 'not a tag', targetLanguage: 'de' })).toBe('RangeError');
    expect(await name({ sourceLanguage: 42, targetLanguage: 'de' })).toBe('TypeError');
    expect(await name({ model: tiny.path, targetLanguage: 'fr' })).toBe('NotSupportedError');
    expect(await name({ model: tiny.path, workers: 0 })).toBe('RangeError');
    expect(await name({ model: tiny.path, sourceLanguage: 'de', targetLanguage: 'en' })).toBe(
      'NotSupportedError',
    );
    for (const model of ['/no/such/model.octavo', directory.path, ''])
      expect(await name({ model })).toBe('NetworkError');
    expect(await name({ model: new TextEncoder().encode('not a model') })).toBe('OperationError');
    expect(await name({ model: tiny.path, kernel: 'avx9000' })).toBe('NotSupportedError');
    const away = new ModelStore({ registry: server.url('/nowhere.json'), directory: directory.path });
    expect(await name({ sourceLanguage: 'en', targetLanguage: 'de', store: away })).toBe('NetworkError');
    expect(() => Reflect.construct(Translator, []) as unknown).toThrow(TypeError);
  });

  test('can be aborted, before and while downloading', async () => {
    const store = newStore();
    await store.clear();
    server.spoil('/tiny.octavo', { stallAfter: 10 });
    const languages = { sourceLanguage: 'en', targetLanguage: 'de', store };
    expect((await rejection(Translator.create({ ...languages, signal: AbortSignal.abort() }))).name).toBe(
      'AbortError',
    );
    const controller = new AbortController();
    const creation = rejection(Translator.create({ ...languages, signal: controller.signal }));
    setTimeout(() => {
      controller.abort(new Error('enough'));
    }, 50);
    expect((await creation).message).toBe('enough');
    server.spoil('/tiny.octavo');
    (await Translator.create(languages)).destroy();
  });

  test('can be aborted at each event, and no other event comes then', async () => {
    for (const last of [0, 1]) {
      const controller = new AbortController();
      const events: number[] = [];
      const monitor = (m: CreateMonitor) => {
        m.addEventListener('downloadprogress', ({ loaded }) => {
          events.push(loaded);
          if (loaded === last) controller.abort(new Error('enough'));
        });
      };
      const store = newStore();
      await store.clear();
      const languages = { sourceLanguage: 'en', targetLanguage: 'de' };
      const creation = Translator.create({ ...languages, store, monitor, signal: controller.signal });
      expect((await rejection(creation)).message).toBe('enough');
      expect(events.at(-1)).toBe(last);
    }
  });

  test('leave a translator that the same signal destroys', async () => {
    const controller = new AbortController();
    const own = await Translator.create({ model: tiny.path, signal: controller.signal });
    const calls = () => [
      own.translate(text),
      own.translateBatch([text]),
      own.measureInputUsage(text),
      own.translateStreaming(text).getReader().read(),
    ];
    const pending = calls().map((call) => rejection(call));
    controller.abort(new Error('enough'));
    for (const call of [...pending, ...calls().map((later) => rejection(later))])
      expect((await call).message).toBe('enough');
    expect(own.engine.memoryBytes).toBe(0);
    own.destroy();
  });

  test('take one language, if the model knows the other', async () => {
    const own = await Translator.create({ model: tiny.path, targetLanguage: 'de-CH' });
    expect([own.sourceLanguage, own.targetLanguage]).toEqual(['en', 'de']);
    own.destroy();
  });

  test('take a model as path, bytes, view, Blob and File', async () => {
    const expected = await translator.translate(text);
    const { bytes } = tiny;
    const models = [
      bytes.slice().buffer,
      bytes,
      new DataView(bytes.buffer),
      new Blob([bytes]),
      new File([bytes], 'm'),
    ];
    for (const model of models) {
      const own = await Translator.create({ model });
      expect(await own.translate(text)).toBe(expected);
      own.destroy();
    }
    expect(bytes.length).toBe(readFileSync(tiny.path).length); // not taken away
  });
});

describe('translate', () => {
  test.each(['', ' ', '\n\n \t', '—', '…', '42', '✓', '\u0000'])('returns %j as it is', async (blank) => {
    expect(await translator.translate(blank)).toBe(blank);
  });

  test('keeps layout, numbers and addresses', async () => {
    const translation = await translator.translate(text);
    expect(translation).toMatch(/^\S.*\n\n {2}- .*42\.50.*\n {2}- .*https:\/\/example\.org\/a\?b=1.* {2}$/su);
  });

  test('takes anything for a string, also half a character', async () => {
    expect(await translator.translate(null as unknown as string)).toBe(await translator.translate('null'));
    expect(typeof (await translator.translate('half \ud83d a character'))).toBe('string');
  });

  test('tells sentences, confidence, alternatives and alignment by UTF-16 offsets', async () => {
    const source = '🙂 The house is small. Is it?';
    const options = { alternatives: 3, alignment: true, confidence: true } as const;
    const { text: whole, sentences } = await translator.translate(source, options);
    expect(sentences.map(({ source: { start, end } }) => source.slice(start, end)).join(' ')).toBe(source);
    for (const sentence of sentences) {
      expect(whole.slice(sentence.target.start, sentence.target.end)).toBe(sentence.text);
      expect(sentence.alternatives?.[0]?.text).toBe(sentence.text);
      expect(sentence.alternatives?.length).toBeLessThanOrEqual(3);
      expect(sentence.confidence).toBeGreaterThan(0);
      expect(sentence.confidence).toBeLessThanOrEqual(1);
      expect(sentence.alignment?.length).toBeGreaterThan(0);
      for (const { source: from, target: to, weight } of sentence.alignment ?? []) {
        expect(from.start >= sentence.source.start && from.end <= sentence.source.end).toBe(true);
        expect(to.start >= sentence.target.start && to.end <= sentence.target.end).toBe(true);
        expect(weight > 0 && weight <= 1).toBe(true);
      }
    }
  });

  test('takes a glossary and what not to translate', async () => {
    const options = {
      glossary: { house: 'Bude', 'e-mail': 'Mail' },
      doNotTranslate: ['Acme Foo', 'A-B/(c)'],
    };
    const source = 'The house of Acme Foo has no e-mail from A-B/(c).';
    const translation = await translator.translate(source, options);
    for (const term of ['Bude', 'Acme Foo', 'Mail', 'A-B/(c)']) expect(translation).toContain(term);
  });

  test('refuses a batch that is none', async () => {
    expect((await rejection(translator.translateBatch(5 as unknown as string[]))).name).toBe('TypeError');
  });

  test('refuses numbers that make no sense', async () => {
    for (const options of [{ beam: 0 }, { beam: 65 }, { beam: 1.5 }, { beam: 2, alternatives: 3 }]) {
      expect((await rejection(translator.translate('a b', options))).name).toBe('RangeError');
    }
  });

  test('translates HTML', async () => {
    const html = await translator.translateHTML(
      '<p class=a>The <b>house</b> is <a href="/x?y=1&z">small</a>.</p><script>1 < 2</script>',
    );
    expect(html).toMatch(/^<p class=a>.*<b>.*<\/b>.*<\/p><script>1 < 2<\/script>$/su);
    expect(html).toContain('<a href="/x?y=1&z">');
  });
});

describe('streaming', () => {
  test('yields the same text in parts', async () => {
    const chunks: string[] = [];
    for await (const chunk of translator.translateStreaming(text) as unknown as AsyncIterable<string>)
      chunks.push(chunk);
    expect(chunks.length).toBeGreaterThan(4);
    expect(chunks.join('')).toBe(await translator.translate(text));
  });

  test('tells of each sentence, with its details, as it is finished', async () => {
    const told: TranslatedSentence[] = [];
    const options = { alignment: true, onSentence: (sentence: TranslatedSentence) => told.push(sentence) };
    const { sentences } = (await translator.translate(text, options)) as Translation;
    expect(told.length).toBeGreaterThan(2);
    expect(told).toEqual(sentences);
  });

  test('ends with the signal, and when it is cancelled', async () => {
    const long = 'This sentence goes on and on. '.repeat(500);
    const controller = new AbortController();
    const reader = translator.translateStreaming(long + 'x', { signal: controller.signal }).getReader();
    expect((await reader.read()).done).toBe(false);
    controller.abort();
    expect((await rejection(drain(reader))).name).toBe('AbortError');
    const other = translator.translateStreaming(long).getReader();
    await other.read();
    await other.cancel();
    expect(await translator.translate('Still here.')).not.toBe('');
    const aborted = translator.translateStreaming('a', { signal: AbortSignal.abort() }).getReader();
    expect((await rejection(aborted.read())).name).toBe('AbortError');
  });
});

test('usage and engine are told', async () => {
  const [short, long] = [await translator.measureInputUsage('a'), await translator.measureInputUsage(text)];
  expect(short).toBeGreaterThan(0);
  expect(long).toBeGreaterThan(short);
  const { kernel, variant, workers, wasmBytes, modelBytes, memoryBytes, tokensPerSecond, model } =
    translator.engine;
  // The relaxed build has two fast kernels, of which it takes the one for this CPU.
  expect(variant === 'relaxed' ? ['relaxed', 'fused'] : [variant]).toContain(kernel);
  expect(workers).toBe(1);
  expect(modelBytes).toBe(tiny.bytes.length);
  expect(wasmBytes).toBeGreaterThan(100_000);
  expect(memoryBytes).toBeGreaterThan(modelBytes);
  expect(tokensPerSecond).toBeGreaterThan(0);
  expect(model).toMatchObject({ source: 'en', target: 'de' });
});

async function drain(reader: ReadableStreamDefaultReader<string>) {
  while (!(await reader.read()).done);
}
