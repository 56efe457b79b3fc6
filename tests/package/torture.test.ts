// Text that nobody would write, and everybody pastes: a sensible result in bounded time and memory.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Translator } from '../../dist/node.js';
import { translateHTML } from '../../dist/text/html.js';
import { translateText } from '../../dist/text/translate.js';
import { expectLinear } from '../web/linear.js';
import { upperCase } from './fake-translators.js';
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
  // Blocks begin at multiples of 16. The first that is a character, of each sixteen, alone and beside its neighbour.
  const texts: string[] = [];
  const isAssigned = (point: number) => /\p{Assigned}/u.test(String.fromCodePoint(point));
  for (let start = 0; start < 0x110000; start += 0x10) {
    const isLarge = /[\p{Co}\p{Cs}\p{Script=Han}\p{Script=Hangul}]/u.test(String.fromCodePoint(start));
    if (isLarge && start % 0x400) continue; // thousands that are all alike
    const point = Array.from({ length: 16 }, (_, i) => start + i).find(isAssigned);
    if (point !== undefined) texts.push(`a ${String.fromCodePoint(point, point + 1)} b`);
  }
  for (const block of ['\u2070', '\uFE00', '\uFFF9', '\u{E0001}', '\u{E0100}', '\uD800', '\u{10000}'])
    expect(texts.some((text) => text.includes(block))).toBe(true);
  const results = await translator.translateBatch(texts);
  expect(results).toHaveLength(texts.length);
  expect(results.every((result) => result.length > 0)).toBe(true);
});

describe('ten times as much takes about ten times as long', () => {
  // With signs before it that patterns ask for before they search, and an end that is none for most of them.
  const signs = '() _ -- w::w ` ';
  const repeated = [
    Array.from('.!,:-_/\\|#@&$%*`~^=+<>()[]{}"\'a1A \t\n\r\u0301\u200B\u00A0\uFFFC⟦漢ж😀'),
    [
      'a.',
      'a->',
      'a::',
      'a_',
      'a-',
      'a/',
      './',
      'a@',
      'A-',
      '1,',
      '1.',
      'v1.',
      '0123 ',
      '%(',
      '{{',
      '{,',
      '](',
      '**',
    ],
    [
      '<a ',
      '<!--',
      '<?',
      '<!doctype ',
      '<code><p>',
      '<![CDATA[>',
      '<i>a</i> ',
      'a<br>',
      '</b><b>',
      '&amp',
      '&xyz; ',
    ],
    [
      'http://',
      'www.',
      'a? ',
      'a。',
      'Mr. ',
      'U.S. ',
      'z. B. ',
      'a b ',
      'a, ',
      '5 % ',
      'a\n',
      '|a',
      '\ta',
      'ж ',
      '- ',
    ],
  ].flatMap((units) => units.map((unit) => [signs, unit] as const));
  const begun = [
    ['{', ' '],
    ['%', '0'],
    ['http://a', ')'],
    ['', ' '],
    ['', '<b></b>'],
  ] as const;
  test.each([
    ['text', translateText],
    ['HTML', translateHTML],
  ])(
    '%s',
    async (_, translate) => {
      for (const [before, unit] of [...repeated, ...begun])
        await expectLinear(before + unit, async (length) => {
          await translate(`${before}${unit.repeat(length / unit.length)} x`, {}, upperCase);
        });
    },
    300_000,
  );
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
