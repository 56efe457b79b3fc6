// Cuts a text into sentences and the layout between them, without losing a character.
import type { Punctuation } from './abbreviations.js';
import { beginsWithMonth, punctuationOf } from './abbreviations.js';
import type { Span } from './edits.js';
import { findEntities } from './patterns.js';
import { proseOf } from './structure.js';

/** A part of a text: a sentence to be translated, or layout that stays as it is. */
export interface Piece {
  text: string;
  /** UTF-16 offsets in the whole text. */
  start: number;
  end: number;
  kind: 'sentence' | 'verbatim';
}

/** How a text is cut. */
export interface SplitOptions {
  /** BCP 47 tag of the text's language; `en` unless given. */
  language?: string | undefined;
  /** Whether lines may be marked up as in Markdown: headings, fences, tables; true unless given. */
  markdown?: boolean | undefined;
  /** Whether the text is running text, in which line breaks and wide gaps mean nothing, as in HTML. */
  flow?: boolean | undefined;
}

/** Cuts a text into pieces whose texts, put together, are the text again. */
export const splitSentences = (text: string, options: SplitOptions = {}): Piece[] => [
  ...piecesOf(text, options),
];

/** The same piece by piece: a long text need not be cut all at once. */
export function* piecesOf(text: string, options: SplitOptions = {}): Generator<Piece> {
  const { language = 'en', markdown = true, flow = false } = options;
  const passages: Iterable<Span> = flow ? [[0, text.length]] : proseOf(text, markdown);
  let done = 0;
  const piece = (start: number, end: number, kind: Piece['kind']): Piece[] =>
    start < end ? [{ text: text.slice(start, end), start, end, kind }] : [];
  for (const [from, to] of passages) {
    for (const [start, end] of sentencesOf(text.slice(from, to), language)) {
      yield* piece(done, from + start, 'verbatim');
      yield* piece(from + start, from + end, 'sentence');
      done = from + end;
    }
  }
  yield* piece(done, text.length, 'verbatim');
}

// How much of a paragraph is looked at in one go, so that a long one need not be cut as a whole before its first sentence
// is there. What begins this close to its end may be cut off by it.
const windowSize = 6144;
const margin = 1024;

/** The sentences of a paragraph, without the blanks around them. */
function* sentencesOf(text: string, language: string): Generator<Span> {
  let start = 0;
  for (let size = windowSize; start < text.length; size *= 2) {
    const whole = start + size >= text.length;
    const spans = sentencesIn(text.slice(start, start + size), language);
    const certain = whole ? spans : spans.slice(0, -1).filter(([, end]) => end < size - margin);
    const done = certain.at(-1)?.[1];
    if (done === undefined && !whole) continue; // a very long sentence
    for (const [from, to] of certain) yield [start + from, start + to];
    start = whole ? text.length : start + (done ?? 0);
    size = windowSize / 2;
  }
}

function sentencesIn(text: string, language: string): Span[] {
  // To the segmenter a line break ends a sentence. Ours does not, or the paragraph would have ended.
  const wraps = /(?<![ \t])[ \t]*[\r\n\v\f\u0085\u2028\u2029][\s>]*/g;
  const flat = text.replace(wraps, (wrap) => ' '.repeat(wrap.length));
  const entities = findEntities(flat);
  const punctuation = punctuationOf(language);
  const spans: Span[] = [];
  let start = 0;
  let next = 0;
  for (const boundary of [...boundariesOf(flat, language), flat.length]) {
    const end = Math.max(boundary, closingAfter(flat, boundary, language));
    if (end < flat.length) {
      while ((entities[next]?.end ?? Infinity) <= end) ++next;
      if (end <= start || (entities[next]?.start ?? Infinity) < end) continue;
      // The last words tell. A sentence that is long is not looked through at each boundary.
      const before = flat.slice(start, end).trimEnd().slice(-99);
      if (goesOn(before, flat.slice(end).trimStart(), punctuation)) continue;
    }
    const part = flat.slice(start, end);
    const trimmed = part.trim();
    if (trimmed) {
      const from = start + part.indexOf(trimmed);
      spans.push([from, from + trimmed.length]);
    }
    start = end;
  }
  return spans;
}

/** French leaves a blank before the closing quotation mark, and the segmenter falls for it. */
function closingAfter(text: string, boundary: number, language: string): number {
  const closing = /^fr\b/i.test(language) ? /[»)\]]+\s*/y : /[)\]]+\s*/y;
  closing.lastIndex = boundary;
  return boundary + (closing.exec(text)?.[0].length ?? 0);
}

/** Whether no sentence ends between two parts, though one of the usual marks stands there. */
function goesOn(
  before: string,
  after: string,
  { inner, beforeNumber, starters, ordinals }: Punctuation,
): boolean {
  if (/^["'“‘«(]?\p{Ll}/u.test(after) || /^[,;:]/.test(after)) return true;
  if (!/[\p{L}\p{N}]/u.test(before)) return true; // "… and", "- ", a lonely emoji
  if (!before.endsWith('.') || before.endsWith('..')) return false;

  const word = /[^\s("'“„«[]*$/.exec(before.slice(-40, -1))?.[0] ?? '';
  const spelled = word.toLowerCase();
  const next = /^["'“„‘«(]*([\p{L}\p{M}'’-]+)/u.exec(after)?.[1] ?? '';
  const starter = starters.has(next.toLowerCase());
  if (/^\p{Ll}$/u.test(word) || inner.has(spelled)) return true; // "z." of "z. B."
  if (beforeNumber.has(spelled)) return /^(?:[\d(#§]|\p{Lu}\d)/u.test(after);
  if (/^\p{Lu}$/u.test(word)) {
    // "z. B. Das": an abbreviation in parts. "J. R. R. Tolkien": initials. "So do I.": neither.
    if (/(?:^|\s)\p{Ll}\.\s?\p{Lu}\.$/u.test(before)) return true;
    return !starter && /^\p{Lu}/u.test(next) && (word !== 'I' || /(?:^|[\s.])\p{Lu}\.\s?I\.$/u.test(before));
  }
  if (/^(?:\p{L}\.)+-?\p{L}$/u.test(word)) return inner.has(spelled) || (!starter && /^\p{Lu}/u.test(next));
  if (/^\d{1,2}$/.test(word)) return (ordinals && !!next && !starter) || beginsWithMonth(next);
  if (ordinals && /^[IVX]{2,}$/.test(word)) return !!next && !starter;
  return false;
}

/** Where sentences may end, by the rules of Unicode. The segmenter's time grows with the square of what it is given. */
function boundariesOf(text: string, language: string): number[] {
  const found: number[] = [];
  let start = 0;
  for (let size = windowSize / 2; start < text.length; size *= 2) {
    const whole = start + size >= text.length;
    const known = found.length;
    for (const at of boundariesIn(text.slice(start, start + size), language))
      if (whole || at < size - margin) found.push(start + at);
    if (found.length === known && !whole) continue;
    start = whole ? text.length : (found.at(-1) ?? 0);
    size = windowSize / 4;
  }
  return found;
}

function boundariesIn(text: string, language: string): number[] {
  if (!/[.!?\u0080-\uffff]/.test(text)) return []; // as most lines of lists and tables: it takes a while to ask
  const segmenter = segmenterOf(language);
  if (segmenter) return Array.from(segmenter.segment(text), ({ index }) => index).slice(1);
  return Array.from(
    text.matchAll(/[.!?…]+["'”’»)\]]*\s+|[。！？]+[」』）]*/gu),
    (m) => m.index + m[0].length,
  );
}

const segmenters = new Map<string, Intl.Segmenter | undefined>();

function segmenterOf(language: string): Intl.Segmenter | undefined {
  if (!segmenters.has(language)) segmenters.set(language, createSegmenter(language));
  return segmenters.get(language);
}

function createSegmenter(language: string): Intl.Segmenter | undefined {
  const { Segmenter } = Intl as { Segmenter?: typeof Intl.Segmenter };
  if (!Segmenter) return undefined;
  try {
    return new Segmenter(language, { granularity: 'sentence' });
  } catch {
    return new Segmenter(undefined, { granularity: 'sentence' }); // not a language tag
  }
}
