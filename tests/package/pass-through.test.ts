// What must arrive unchanged does, whatever the real model makes of the words around it.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Translator } from '../../dist/node.js';
import { translateText } from '../../dist/text/translate.js';
import { hostile } from './fake-translators.js';
import { realModel, strings } from './real-model.js';

let translator: Translator;
let translations: string[];

beforeAll(async () => {
  translator = await Translator.create({ model: realModel });
  translations = await translator.translateBatch(strings.map(({ text }) => text));
}, 120_000);
afterAll(() => {
  translator.destroy();
});

const isNumber = (item: string) => /^[-+]?\d[\d.,:/ -]*$/.test(item);

/** How often an item stands in a text. The separators of a number follow the language. */
function count(item: string, text: string): number {
  if (!isNumber(item)) return text.split(item).length - 1;
  const separator = "[.,:/ \u00a0\u202f'’–-]";
  const parts = item.match(/\d+/g) ?? [];
  // Thousands may get separators, or lose them.
  const grouped = parts.map((part) => part.replace(/\B(?=(?:\d{3})+$)/g, `${separator}?`));
  const sign = item.startsWith('-') ? '[-−]' : '';
  const pattern = grouped.reduce(
    (all, part) => all + (/^\d{3}$/.test(part) ? `${separator}?` : separator) + part,
  );
  return Array.from(text.matchAll(new RegExp(`(?<!\\d)${sign}${pattern}(?!\\d)`, 'g'))).length;
}

test('there are at least 300 strings', () => {
  expect(new Set(strings.map(({ text }) => text)).size).toBeGreaterThanOrEqual(300);
  for (const { text, kept } of strings) for (const item of kept) expect(count(item, text)).toBeGreaterThan(0);
});

/** What has not arrived, or more often than it was sent. */
const lost = (results: readonly string[]) =>
  strings.flatMap(({ text, kept }, i) => {
    const translation = results[i] ?? '';
    const items = kept.filter((item) => {
      const [sent, arrived] = [count(item, text), count(item, translation)];
      // A model may say a number once more, in words of its own; nothing else.
      return isNumber(item) ? arrived < sent : arrived !== sent;
    });
    return items.length ? [{ text, translation, items }] : [];
  });

test('everything arrives, and as often as it was sent', () => {
  expect(lost(translations)).toEqual([]);
});

test('also from models that lose, double and spoil things', async () => {
  for (let seed = 1; seed <= 60; ++seed) {
    const spoil = hostile(seed);
    const results: string[] = [];
    // One after the other, so that each run is the same.
    for (const { text } of strings) results.push((await translateText(text, {}, spoil)).text);
    expect({ seed, lost: lost(results) }).toEqual({ seed, lost: [] });
  }
}, 120_000);

test('no mark of ours is left', () => {
  expect(translations.filter((translation) => /[⟦⟧\uFFFC]/u.test(translation))).toEqual([]);
});
