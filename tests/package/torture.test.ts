// Text that nobody would write, and everybody pastes: a sensible result in bounded time and memory.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Translator } from '../../dist/node.js';
import { inRepository } from './tiny-model.js';

let translator: Translator;
beforeAll(async () => {
  translator = await Translator.create({ model: inRepository('tests/data/version-1.octavo') });
});
afterAll(() => {
  // Whatever came, the engine's memory has stayed small.
  expect(translator.engine.memoryBytes).toBeLessThan(32e6);
  translator.destroy();
});

const lineBreaks = (text: string): string[] => text.match(/\r\n|\r|\n/g) ?? [];

describe('comes back as it is', () => {
  test.each([
    ['nothing', ''],
    ['blanks', ' \t\n\u00A0\r\n\u2003 '],
    ['a null byte', '\0'],
    ['zero-width signs', '\u200B\u200C\u200D\u2060\uFEFF'],
    ['bidi controls', '\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069'],
    ['an emoji sequence', '👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽'],
    ['only signs', '--- *** ... !!! ((( )))'],
    ['numbers', '12 345,67'],
  ])('%s', async (_, text) => {
    expect(await translator.translate(text)).toBe(text);
  });
});

describe('is translated, and the layout stays', () => {
  test.each([
    ['one letter', 'a'],
    ['a letter and 500 combining marks', `a${'\u0301'.repeat(500)} word`],
    ['lone surrogates', 'one \uD83D two \uDE00 three'],
    ['null bytes', 'one\0two\0three'],
    ['line ends of all kinds', 'One.\r\nTwo.\rThree.\n\n\tFour.'],
    ['tabs', 'One\ttwo\tthree'],
    ['mixed languages', 'The house ist klein, mais 漢字 и слова עברית عربي हिन्दी are here.'],
    ['a word 1,000 times', 'very '.repeat(1000)],
    ['a sentence 1,000 times', 'It is so. '.repeat(1000)],
    ['a word of 10,000 letters', 'x'.repeat(10_000)],
    ['brackets', '('.repeat(5000) + 'a' + ')'.repeat(5000)],
    ['marks of ours', '⟦0⟧ ⟦1⟧ \uFFFC ‹x› ⟦'],
  ])('%s', async (_, text) => {
    const result = await translator.translate(text);
    expect(result.length).toBeGreaterThan(0);
    expect(lineBreaks(result)).toEqual(lineBreaks(text));
  });
});

test('something of every block of Unicode', async () => {
  const texts = [];
  for (let point = 0x20; point < 0x110000; point += 0x80) {
    if (point >= 0xd800 && point < 0xe000) continue;
    texts.push(`a ${String.fromCodePoint(point, point + 0x41)} b`);
    if (point >= 0x30000) point += 0x10000; // beyond, planes are empty or private
  }
  const results = await translator.translateBatch(texts);
  expect(results).toHaveLength(texts.length);
  expect(results.every((result) => result.length > 0)).toBe(true);
});

test('1 MB in one line', async () => {
  const text = 'The house is small and old and '.repeat(34_000);
  const result = await translator.translate(text);
  expect(result.length).toBeGreaterThan(text.length / 10);
  expect(lineBreaks(result)).toEqual([]);
}, 120_000);

test('10,000 lines', async () => {
  const text = Array.from({ length: 10_000 }, (_, n) =>
    n % 10 === 0 ? `${String(n)} x` : 'The house.',
  ).join('\n');
  const lines = (await translator.translate(text)).split('\n');
  expect(lines).toHaveLength(10_000);
  expect(lines.every((line, n) => n % 10 !== 0 || line.includes(String(n)))).toBe(true);
}, 120_000);
