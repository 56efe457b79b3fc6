// The model that is published, and texts for it.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { inRepository } from './tiny-model.js';

export const realModel = inRepository('models/en-de/model.octavo');

/** The strings of tests/data/pass-through.txt, and what has to be in their translations. */
export const strings = readFileSync(inRepository('tests/data/pass-through.txt'), 'utf8')
  .split('\n')
  .filter((line) => line && !line.startsWith('#'))
  .map((line) => ({
    text: line.replace(/[‹›]/g, ''),
    kept: Array.from(line.matchAll(/‹([^›]+)›/g), ([, item = '']) => item),
  }));

/** Fifty texts, from one word to some paragraphs, and a few sentences in more than one of them. */
export const fiftyTexts = Array.from({ length: 50 }, (_, i) => {
  const sentence = (n: number) => strings[(7 * n) % strings.length]?.text ?? '';
  if (i % 10 === 0) return sentence(i).split(' ')[0] ?? '';
  if (i % 10 === 5) return `${sentence(i)} ${sentence(i + 1)}\n\n  - ${sentence(i + 2)}\n`;
  return sentence(i);
});

/** One number for many texts. */
export const hashOf = (texts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('hex');
