// The same text gives the same translation to the bit: alone, in a batch, in any order, on any number of workers and any Node.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { beforeAll, expect, test } from '@jest/globals';
import { type CreateOptions, Translator, supportedVariants } from '../../dist/node.js';
import { fiftyTexts, hashOf, realModel } from './real-model.js';
import { inRepository, tinyModel } from './tiny-model.js';

/** Works with a translator of its own each time, for one remembers what it has translated. */
async function withTranslator<T>(options: CreateOptions, work: (translator: Translator) => Promise<T>) {
  const translator = await Translator.create({ model: realModel, ...options });
  try {
    return await work(translator);
  } finally {
    translator.destroy();
  }
}
const inBatch = (options: CreateOptions, texts = fiftyTexts) =>
  withTranslator(options, (translator) => translator.translateBatch(texts));

/** Each by itself, one after the other. */
const oneByOne = (options: CreateOptions) =>
  withTranslator(options, async (translator) => {
    const translations: string[] = [];
    for (const text of fiftyTexts) translations.push(await translator.translate(text));
    return translations;
  });

let expected: string;
beforeAll(async () => {
  expected = hashOf(await oneByOne({}));
}, 120_000);

test('in a batch of 50', async () => {
  expect(fiftyTexts).toHaveLength(50);
  const translations = await inBatch({});
  expect(hashOf(translations)).toBe(expected);
  expect(new Set(translations).size).toBe(new Set(fiftyTexts).size);
});

test('backwards and shuffled', async () => {
  const backwards = await inBatch({}, [...fiftyTexts].reverse());
  expect(hashOf(backwards.reverse())).toBe(expected);
  const order = fiftyTexts.map((_, i) => (i * 17) % 50);
  const shuffled = await inBatch(
    {},
    order.map((i) => fiftyTexts[i] ?? ''),
  );
  expect(hashOf(order.map((_, i) => shuffled[order.indexOf(i)] ?? ''))).toBe(expected);
});

test('with 3 workers, together and at the same time', async () => {
  expect(hashOf(await inBatch({ workers: 3 }))).toBe(expected);
  const atOnce = await withTranslator({ workers: 3 }, (translator) =>
    Promise.all(fiftyTexts.map((text) => translator.translate(text))),
  );
  expect(hashOf(atOnce)).toBe(expected);
});

test('in memory that is taken when the model is loaded', async () => {
  const [loaded, afterwards] = await withTranslator({}, async (translator) => {
    const before = translator.engine.memoryBytes;
    await translator.translateBatch(fiftyTexts);
    await translator.translate(fiftyTexts[0] ?? '', { beam: 8, alternatives: 4, alignment: true });
    return [before, translator.engine.memoryBytes];
  });
  expect(afterwards).toBe(loaded);
});

test('as one long text, and as a stream', async () => {
  const paragraphs = fiftyTexts.map((text) => text.trim());
  const alone = await inBatch({}, paragraphs);
  const whole = paragraphs.join('\n\n');
  expect(await withTranslator({}, (translator) => translator.translate(whole))).toBe(alone.join('\n\n'));
  const streamed = await withTranslator({}, async (translator) => {
    let text = '';
    const stream = translator.translateStreaming(whole) as unknown as AsyncIterable<string>;
    for await (const chunk of stream) text += chunk;
    return text;
  });
  expect(streamed).toBe(alone.join('\n\n'));
});

test('with every kernel', async () => {
  for (const kernel of supportedVariants()) expect(hashOf(await inBatch({ kernel }))).toBe(expected);
  // The reference takes its time: on the tiny model.
  const model = tinyModel().path;
  expect(hashOf(await inBatch({ model, kernel: 'reference' }))).toBe(hashOf(await inBatch({ model })));
});

test('in every Node that is here', () => {
  const script = `
    import { createHash } from 'node:crypto';
    import { Translator } from ${JSON.stringify(inRepository('dist/node.js'))};
    const translator = await Translator.create({ model: ${JSON.stringify(realModel)}, workers: 2 });
    const translations = await translator.translateBatch(${JSON.stringify(fiftyTexts)});
    console.log(createHash('sha256').update(JSON.stringify(translations)).digest('hex'));
    translator.destroy();`;
  const others = readdirSync(inRepository('node_modules'))
    .filter((name) => name.startsWith('node-'))
    .map((name) => inRepository(`node_modules/${name}/bin/node`))
    .filter(existsSync);
  for (const node of others) {
    const args = ['--no-warnings', '--input-type=module', '--eval', script];
    expect(execFileSync(node, args, { encoding: 'utf8' }).trim()).toBe(expected);
  }
});
