// What went on inside: the same integers and scales from every kernel.
import { afterAll, expect, test } from '@jest/globals';
import { Translator } from '../../dist/node.js';
import { rejection, tinyModel } from './tiny-model.js';

const tiny = tinyModel();
const translators = await Promise.all(
  (['simd128', 'reference'] as const).map((kernel) => Translator.create({ model: tiny.path, kernel })),
);
afterAll(() => {
  for (const translator of translators) translator.destroy();
});
const [translator] = translators as [Translator];

test('rows of attention and scales belong to the pieces', async () => {
  const { source, target, attention, stations } = await translator.inspect('I see 42 trees!');
  expect(source.at(-1)).toBe('</s>');
  const { encoder_layers, decoder_layers, heads } = translator.engine.model.shape as Record<string, number>;
  expect(attention).toHaveLength((decoder_layers ?? 0) * (heads ?? 0));
  for (const { weights } of attention) {
    expect(weights).toHaveLength(target.length);
    for (const row of weights) {
      expect(row).toHaveLength(source.length);
      expect(row.every((weight) => Number.isInteger(weight) && weight >= 0 && weight <= 127)).toBe(true);
    }
  }
  expect(stations).toHaveLength(4 + 2 * (encoder_layers ?? 0) + 3 * (decoder_layers ?? 0));
  for (const { part, scales } of stations) {
    expect(scales).toHaveLength((part === 'encoder' ? source : target).length);
    expect(scales.every((scale) => scale > 0)).toBe(true);
  }
});

test('every kernel passes the same stations with the same scales', async () => {
  const seen = await Promise.all(translators.map((each) => each.inspect('The house is small.')));
  expect(seen[0]).toEqual(seen[1]);
});

test('a translation that is given is read as it is', async () => {
  const sentence = 'The house is small.';
  const { target, attention } = await translator.inspect(sentence, { translation: '1 2' });
  expect(target.join('').replaceAll('▁', ' ').trim()).toBe('1 2</s>');
  for (const { weights } of attention) expect(weights).toHaveLength(target.length);
});

test('what cannot be inspected is said, and the translator works on', async () => {
  expect((await rejection(translator.inspect(' '))).message).toMatch(/nothing to inspect/);
  expect((await rejection(translator.inspect('x'.repeat(9999)))).message).toMatch(/up to \d+ tokens/);
  const stopped = await rejection(translator.inspect('a', { signal: AbortSignal.abort() }));
  expect(stopped.name).toBe('AbortError');
  expect((await translator.inspect('a')).target.length).toBeGreaterThan(0);
});
