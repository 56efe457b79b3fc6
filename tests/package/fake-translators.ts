// Translators that need no model, from the faithful to the hostile, for the tests of everything around the model.
import type { AlignedTranslation } from '../../dist/text/alignment.js';
import type { TranslateTexts } from '../../dist/text/translate.js';

/** Numbers from 0 to 1 that are the same in every run. */
export function seeded(seed: number) {
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  return { random, below, pick };
}

const each =
  (translate: (text: string) => string): TranslateTexts =>
  (texts) =>
    Promise.resolve(texts.map(translate));

export const identity = each((text) => text);

/** Another text of the same length, and so also another for each letter. */
export const upperCase = each((text) => text.toUpperCase());

export const reverseWords = each((text) => text.split(' ').reverse().join(' '));

export const silent = each(() => '');

/** The reversed words in capitals, with the alignment that says so; punctuation stays at the end. */
export const alignedReverse: TranslateTexts = (texts) =>
  Promise.resolve(
    texts.map((text): AlignedTranslation => {
      const words = Array.from(text.matchAll(/⟦\d⟧|[\p{L}\p{N}'’\uFFFC]+|[^\s]/gu));
      const end = /^[.!?]$/.test(words.at(-1)?.[0] ?? '') ? words.pop() : undefined;
      const order = [...words.reverse(), ...(end ? [end] : [])];
      let result = '';
      const target = order.map(([word]): [number, number] => {
        if (result && !/^[.!?]$/.test(word)) result += ' ';
        result += word.toUpperCase();
        return [result.length - word.length, result.length];
      });
      const source = order.map(({ index, 0: word }): [number, number] => [index, index + word.length]);
      const weights = order.map((_, row) => order.map((_, column) => (row === column ? 200 : 7)));
      return { text: result, alignment: { source, target, weights } };
    }),
  );

/** Loses, doubles, spoils and invents marks and numbers, and moves words about, all at random. */
export function hostile(seed: number): TranslateTexts {
  const { random, below, pick } = seeded(seed);
  return each((text) => {
    if (random() < 0.05) return pick(['', ' ', '⟦', '7 7 7', '⟦9⟧⟦9⟧']);
    const words = text.split(' ').flatMap((word): string[] => {
      const chance = random();
      const special = /[⟦\d]/.test(word);
      if (chance < (special ? 0.25 : 0.05)) return [];
      if (chance < (special ? 0.4 : 0.08)) return [word, word];
      if (chance < 0.5 && special) return [word.replace(/\d/g, () => String(below(10)))];
      if (chance < 0.55) return [`⟦${String(below(10))}⟧${word}`];
      if (chance < 0.6) return [word.replace(/[⟦⟧]/g, '')];
      if (chance < 0.65) return [word.replace('⟦', '⟦ ')];
      return [word.toUpperCase()];
    });
    for (let i = words.length - 1; i > 0; --i) {
      if (random() > 0.3) continue;
      const j = below(i + 1);
      [words[i], words[j]] = [words[j] ?? '', words[i] ?? ''];
    }
    return words.join(pick([' ', ' ', ' ', '']));
  });
}
