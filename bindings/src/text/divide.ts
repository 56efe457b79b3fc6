// Divides a sentence that is too long for the model, or has more in it to be kept than there are marks.
import type { Span } from './edits.js';
import type { Kept } from './protect.js';
import { maxMasks } from './protect.js';

/** The length, in UTF-16 units, that a sentence may have before it is divided, unless the caller says otherwise. */
export const defaultMaxLength = 500;

const maskLength = 3;

interface Atom {
  end: number;
  cost: number;
  masks: number;
  /** How good it is to cut after it: not at all, in a word, after a word, after a comma or its like. */
  cut: 0 | 1 | 2 | 3;
}

/** The parts into which a sentence is to be divided; only one, as a rule. Together they are the sentence. */
export function divide(sentence: string, kept: readonly Kept[], maxLength = defaultMaxLength): Span[] {
  if (sentence.length <= maxLength && kept.length <= maxMasks) return [[0, sentence.length]];
  const parts: Span[] = [];
  let start = 0;
  let pending: Atom[] = [];
  for (const atom of atomsOf(sentence, kept, Math.max(20, maxLength))) {
    pending.push(atom);
    while (pending.length > 1 && (sum(pending, 'cost') > maxLength || sum(pending, 'masks') > maxMasks)) {
      const at = bestCut(pending.slice(0, -1));
      const end = pending[at]?.end ?? atom.end;
      parts.push([start, end]);
      start = end;
      pending = pending.slice(at + 1);
    }
  }
  if (start < sentence.length) parts.push([start, sentence.length]);
  return parts;
}

/** The last of the best places; a comma counts only in the second half, or the parts would get too small. */
function bestCut(atoms: readonly Atom[]): number {
  let best = atoms.length - 1;
  let score = -1;
  atoms.forEach(({ cut }, i) => {
    const worth = cut === 3 && i < atoms.length / 2 ? 1.5 : cut;
    if (worth >= score) [best, score] = [i, worth];
  });
  return best;
}

function atomsOf(sentence: string, kept: readonly Kept[], maxLength: number): Atom[] {
  const atoms: Atom[] = [];
  const words = (from: number, to: number) => {
    for (const { index, 0: word } of sentence.slice(from, to).matchAll(/\s*\S+\s*|\s+/g)) {
      for (let at = 0; at < word.length;) {
        let next = Math.min(word.length, at + maxLength);
        if (next < word.length && /[\uDC00-\uDFFF]/.test(word.charAt(next))) --next;
        const text = word.slice(at, next);
        const cut = /[,;:–—、，；]["'”’»)\]]*\s+$|[。，、]$/.test(text) ? 3 : /\s$/.test(text) ? 2 : 1;
        atoms.push({ end: from + index + next, cost: text.length, masks: 0, cut });
        at = next;
      }
    }
  };
  let done = 0;
  for (const { start, end } of kept) {
    words(done, start);
    atoms.push({ end, cost: maskLength, masks: 1, cut: 1 });
    done = end;
  }
  words(done, sentence.length);
  return atoms;
}

const sum = (atoms: readonly Atom[], key: 'cost' | 'masks') =>
  atoms.reduce((total, atom) => total + atom[key], 0);
