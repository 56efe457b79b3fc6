// Puts marks in the place of what a model might spoil. The model has learnt to copy ⟦0⟧ … ⟦9⟧.
import type { Edit, Span } from './edits.js';
import { applyEdits } from './edits.js';
import type { NumberToken } from './numbers.js';
import { findNumbers } from './numbers.js';
import type { Entity, EntityKind } from './patterns.js';
import { findEntities, findTerms, withoutOverlaps } from './patterns.js';

/** How many different marks there are. */
export const maxMasks = 10;

/** A passage that the caller wants to find again in the translation, such as an element of HTML. */
export interface TextObject {
  /** UTF-16 offsets in the sentence; both the same for something between two words. */
  start: number;
  end: number;
  /** What stands for it in the translation. */
  value: string;
}

/** What is kept, and how. */
export interface ProtectOptions {
  /** BCP 47 tag of the source language; `en` unless given. */
  language?: string | undefined;
  /** Terms of the source with their fixed translations. */
  glossary?: Readonly<Record<string, string>> | ReadonlyMap<string, string> | undefined;
  /** Terms that stay as they are. */
  doNotTranslate?: readonly string[] | undefined;
  /** Passages of this sentence that the caller looks after; sorted, not overlapping. */
  objects?: readonly TextObject[] | undefined;
  /** Whether numbers are masked too, as far as marks are left; for a second attempt. */
  maskNumbers?: boolean | undefined;
  /** The number of the first mark, 0 … 9. */
  firstMask?: number | undefined;
}

/** Something kept: where it is and what takes its place in the translation. */
export interface Item {
  kind: EntityKind;
  /** Its mark in the masked text; none, if it stands in a text that needs no translation. */
  mask: string;
  /** Its passage in the source, and in the masked text. */
  source: Span;
  masked: Span;
  value: string;
  /** The objects that it stands for. */
  objects: readonly TextObject[];
}

/** A sentence that is ready for the model. */
export interface Masked {
  source: string;
  masked: string;
  items: Item[];
  /** Numbers that the model sees, by their place in the masked text. */
  numbers: NumberToken[];
  /** Line breaks inside the sentence, each with its place in the masked text, where a blank stands for it. */
  breaks: { at: number; text: string }[];
  /** The edits that lead from the masked text back to the source. */
  inverse: Edit[];
}

/** A text that needs no model: symbols, numbers, addresses, terms of the glossary. */
export interface Verbatim {
  source: string;
  verbatim: string;
  items: Item[];
}

const wrap = /(?<![ \t])[ \t]*[\r\n\v\f\u0085\u2028\u2029][\s>]*/g;

/**
 * Masks what has to arrive unchanged in a sentence, or says that there is nothing to translate in it.
 * With more than ten things to mask, those a model is least likely to spoil are left to it; see `divide`.
 */
export function prepare(sentence: string, options: ProtectOptions = {}): Masked | Verbatim {
  const found = keptIn(sentence, options);
  const numbers = findNumbers(sentence, found);
  const kept = atMost(merge(found), maxMasks);
  if (!hasWords(sentence, [...found, ...numbers])) return verbatim(sentence, kept);
  if (options.maskNumbers) {
    const more = numbers.slice(0, maxMasks - kept.length);
    kept.push(...more.map((number) => withSign(number, sentence, kept)));
    kept.sort((a, b) => a.start - b.start);
  }

  const first = options.firstMask ?? 0;
  const edits: (Edit & { kept?: Kept })[] = kept.map((entity, i) => {
    const mask = `⟦${String((first + i) % maxMasks)}⟧`;
    const { start, end } = entity;
    if (start < end) return { start, end, text: mask, kept: entity };
    // A mark between two words must not melt into them.
    const left = isWord(sentence.charAt(start - 1)) ? ' ' : '';
    const right = isWord(sentence.charAt(end)) ? ' ' : '';
    return { start, end, text: left + mask + right, kept: entity };
  });
  for (const { index, 0: text } of sentence.matchAll(wrap)) {
    const end = index + text.length;
    if (!kept.some((entity) => entity.start < end && index < entity.end))
      edits.push({ start: index, end, text: ' ' });
  }
  edits.sort((a, b) => a.start - b.start || a.end - b.end);

  const { text: masked, places, inverse } = applyEdits(sentence, edits);
  const items: Item[] = [];
  const breaks: Masked['breaks'] = [];
  edits.forEach(({ start, end, text, kept: entity }, i) => {
    const at = places[i]?.[0] ?? 0;
    if (!entity) return breaks.push({ at, text: sentence.slice(start, end) });
    const mask = text.trim();
    const from = at + text.indexOf(mask);
    return items.push({ ...entity, mask, source: [start, end], masked: [from, from + mask.length] });
  });
  const skip = items.map(({ masked: [start, end] }) => ({ start, end }));
  return { source: sentence, masked, items, numbers: findNumbers(masked, skip), breaks, inverse };
}

/** Everything in a sentence that has to arrive as it is, except numbers; sorted, not overlapping. */
export function keptIn(sentence: string, options: ProtectOptions = {}): Kept[] {
  const { language, glossary, doNotTranslate = [], objects = [] } = options;
  const terms = glossary instanceof Map ? new Map(glossary) : new Map(Object.entries(glossary ?? {}));
  const found = [
    ...findTerms(sentence, [...terms.keys()], 'glossary'),
    ...findTerms(sentence, doNotTranslate, 'term'),
    ...findEntities(sentence, language),
  ].filter(({ start, end }) => !objects.some((object) => object.start < end && start < object.end));
  return [
    ...withoutOverlaps(found).map(({ kind, start, end }) => {
      const text = sentence.slice(start, end);
      return keep(kind, start, end, kind === 'glossary' ? translationOf(text, start, terms) : text);
    }),
    ...objects.map((object) => ({
      ...keep('object', object.start, object.end, object.value),
      objects: [object],
    })),
  ].sort((a, b) => a.start - b.start || a.end - b.end);
}

/** An entity, and what takes its place. */
export interface Kept extends Entity {
  value: string;
  objects: readonly TextObject[];
}

const keep = (kind: EntityKind, start: number, end: number, value: string): Kept => ({
  kind,
  start,
  end,
  value,
  objects: [],
});

/** A number with the sign beside it, unless that belongs to something else: $5, 5 %, 20 °C. */
function withSign({ start, end }: NumberToken, sentence: string, others: readonly Kept[]): Kept {
  const from = start - (/[$€£¥]$/.test(sentence.slice(0, start)) ? 1 : 0);
  const to = end + (/^[ \u00a0]?(?:[€%]|°[CF]?)(?![\p{L}\p{N}])/u.exec(sentence.slice(end))?.[0].length ?? 0);
  const isFree = !others.some((other) => other.start < to && from < other.end);
  const [first, last] = isFree ? [from, to] : [start, end];
  return keep('number', first, last, sentence.slice(first, last));
}

/** The fixed translation of a term as found in the text, with a capital if only the sentence's start gave it one. */
function translationOf(found: string, start: number, terms: ReadonlyMap<string, string>): string {
  const plain = found.replace(/\s+/g, ' ');
  const exact = terms.get(plain);
  if (exact !== undefined) return exact;
  const isFound = (key: string) => key === plain || key.charAt(0).toUpperCase() + key.slice(1) === plain;
  const term = [...terms.keys()].find((key) => isFound(key.trim().replace(/\s+/g, ' ')));
  const value = terms.get(term ?? '') ?? found;
  return start === 0 ? value.charAt(0).toUpperCase() + value.slice(1) : value;
}

const isWord = (character: string) => /[\p{L}\p{N}\p{M}\uFFFC\uDC00-\uDFFF\uD800-\uDBFF]/u.test(character);

/** Whether letters are left to translate beside the given passages. */
function hasWords(sentence: string, passages: readonly { start: number; end: number }[]): boolean {
  const sorted = [...passages].sort((a, b) => a.start - b.start);
  let done = 0;
  for (const { start, end } of [...sorted, { start: sentence.length, end: sentence.length }]) {
    if (/\p{L}/u.test(sentence.slice(done, start))) return true;
    done = Math.max(done, end);
  }
  return false;
}

/** Neighbours without anything between them share a mark: {a}{b}, 😀🎉. Objects are found again one by one. */
function merge(found: readonly Kept[]): Kept[] {
  const merged: Kept[] = [];
  for (const entity of found) {
    const last = merged.at(-1);
    if (last?.end === entity.start && last.kind !== 'object' && entity.kind !== 'object') {
      merged[merged.length - 1] = keep(last.kind, last.start, entity.end, last.value + entity.value);
    } else {
      merged.push(entity);
    }
  }
  return merged;
}

// From what a model copies well to what it must never touch.
const risk: EntityKind[] = [
  'handle',
  'emoji',
  'version',
  'foreign',
  'placeholder',
  'path',
  'email',
  'tag',
  'code',
  'url',
];

function atMost(kept: Kept[], count: number): Kept[] {
  if (kept.length <= count) return kept;
  const rank = ({ kind }: Kept) => (risk.includes(kind) ? risk.indexOf(kind) : risk.length);
  const chosen = new Set([...kept].sort((a, b) => rank(b) - rank(a)).slice(0, count));
  return kept.filter((entity) => chosen.has(entity));
}

function verbatim(source: string, kept: readonly Kept[]): Verbatim {
  const edits = kept.map(({ start, end, value }) => ({ start, end, text: value }));
  const { text, places } = applyEdits(source, edits);
  const items = kept.map((entity, i): Item => {
    const { start, end, kind, value, objects } = entity;
    return { kind, value, objects, mask: '', source: [start, end], masked: places[i] ?? [0, 0] };
  });
  return { source, verbatim: text, items };
}
