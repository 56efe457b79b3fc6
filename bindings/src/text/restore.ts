// Puts what was masked back into a translation, after checking that the model kept it; repairs what it did not.
import type { AlignedTranslation, Alignment, Link, Unit } from './alignment.js';
import { bestCut, linksByPosition, linksOf, moveAlignment, unitsOf } from './alignment.js';
import type { Edit, Span } from './edits.js';
import { applyEdits } from './edits.js';
import type { NumberToken } from './numbers.js';
import { compareNumbers, findNumbers } from './numbers.js';
import type { Item, Masked, TextObject } from './protect.js';

/** Something the model did wrong; it has been repaired as far as possible. */
export interface Problem {
  kind: 'missing' | 'doubled' | 'invented' | 'empty';
  /** What was concerned, as it stands in the source or, if invented, in the translation. */
  text: string;
}

/** A translation with everything back in its place. */
export interface Restored {
  text: string;
  problems: Problem[];
  /** Where the caller's objects stand in the text. */
  placed: { object: TextObject; start: number; end: number }[];
  /** The alignment between the source, as it was before masking, and the text. */
  alignment?: Alignment | undefined;
}

/** An edit of the translation; `lead` tells where in the new text an item begins. */
interface Repair extends Edit {
  item?: Item;
  lead?: number;
}

const marks = /⟦\s*(\d)\s*⟧|⟦[^⟦⟧]{0,12}⟧|[⟦⟧]/gu;

/** Verifies, repairs and completes the translation of a masked sentence. */
export function restore(translation: string | AlignedTranslation, prepared: Masked): Restored {
  const problems: Problem[] = [];
  let { text, alignment } = trimmed(translation);
  if (!text) {
    // Better the source than nothing.
    problems.push({ kind: 'empty', text: prepared.source });
    text = prepared.masked;
    alignment = undefined;
  }

  const found = Array.from(text.matchAll(marks), (match) => ({
    start: match.index,
    end: match.index + match[0].length,
    mask: match[1] ? `⟦${match[1]}⟧` : '',
    text: match[0],
  }));
  const repairs: Repair[] = [];
  const missing: (Item | NumberToken)[] = [];
  const height = (at: number, length: number) => at / Math.max(1, length);
  const rest = new Set(found);
  for (const item of prepared.items) {
    const wanted = height(item.masked[0], prepared.masked.length);
    const distance = ({ start }: { start: number }) => Math.abs(height(start, text.length) - wanted);
    const own = found.filter(({ mask }) => mask === item.mask).sort((a, b) => distance(a) - distance(b));
    const best = own[0];
    if (best) {
      rest.delete(best);
      repairs.push(replacement(text, best, item, prepared.masked));
    } else {
      missing.push(item);
      problems.push({ kind: 'missing', text: item.value });
    }
    for (const more of own.slice(1)) {
      rest.delete(more);
      repairs.push(deletion(text, more));
      problems.push({ kind: 'doubled', text: item.value });
    }
  }
  for (const invented of rest) {
    repairs.push(deletion(text, invented));
    problems.push({ kind: 'invented', text: invented.text });
  }

  const numbers = findNumbers(text, found);
  const differences = compareNumbers({ text: prepared.masked, numbers: prepared.numbers }, { text, numbers });
  for (const lost of differences.missing) {
    const written = prepared.masked.slice(lost.start, lost.end);
    problems.push({ kind: 'missing', text: written });
    const wrong = mostAlike(lost, differences.extra);
    if (wrong) {
      differences.extra.splice(differences.extra.indexOf(wrong), 1);
      repairs.push({ start: wrong.start, end: wrong.end, text: written });
    } else {
      missing.push(lost);
    }
  }
  for (const { start, end, digits } of differences.extra) {
    const known = prepared.numbers.some((number) => number.digits === digits);
    problems.push({ kind: known ? 'doubled' : 'invented', text: text.slice(start, end) });
  }

  for (const sign of lostSigns(prepared.masked, text)) problems.push({ kind: 'missing', text: sign });

  if (missing.length) repairs.push(...insertions(text, alignment, prepared, missing, [...found, ...numbers]));
  repairs.push(...closings(text, prepared, repairs));
  repairs.push(...lineBreaks(text, prepared, repairs));
  return finish(text, alignment, prepared, setApart(text, prepared, inOrder(repairs)), problems);
}

function finish(
  text: string,
  alignment: Alignment | undefined,
  prepared: Masked,
  repairs: Repair[],
  problems: Problem[],
): Restored {
  const { text: result, places } = applyEdits(text, repairs);
  const placed = repairs.flatMap(({ item, lead = 0 }, i) =>
    (item?.objects ?? []).map((object) => {
      const start = (places[i]?.[0] ?? 0) + lead;
      return { object, start, end: start + (item?.value.length ?? 0) };
    }),
  );
  return {
    text: result,
    problems,
    placed: placed.sort((a, b) => a.start - b.start),
    alignment: alignment && moveAlignment(alignment, prepared.inverse, repairs),
  };
}

/** Puts an item in the place of its mark, set off from its neighbours if it was so in the source. */
function replacement(
  text: string,
  { start, end }: { start: number; end: number },
  item: Item,
  masked: string,
): Repair {
  if (!item.value) return { ...deletion(text, { start, end }), item };
  const { value, masked: place } = item;
  const apart = (source: string, target: string) => /\s/.test(source) && /[\p{L}\p{N}⟦⟧]/u.test(target);
  const left = apart(masked.charAt(place[0] - 1), text.charAt(start - 1)) ? ' ' : '';
  const right = apart(masked.charAt(place[1]), text.charAt(end)) ? ' ' : '';
  // Between two marks one blank is enough: the left one gives it.
  const gap = left && text[start - 1] === '⟧' ? '' : left;
  return { start, end, text: gap + value + right, item, lead: gap.length };
}

/** Closes the gaps beside what is part of a word in the source, as the 2 of m² is; unless something else is put there. */
function closings(text: string, { masked }: Masked, repairs: readonly Repair[]): Repair[] {
  const letter = /\p{L}/u;
  return repairs.flatMap((own): Repair[] => {
    const { item, start, end } = own;
    if (!item?.value || start === end) return [];
    const [from, to] = item.masked;
    const gaps: number[] = [];
    if (letter.test(masked.charAt(from - 1)) && /\p{L} $/u.test(text.slice(Math.max(0, start - 2), start)))
      gaps.push(start - 1);
    if (letter.test(masked.charAt(to)) && /^ \p{L}/u.test(text.slice(end, end + 2))) gaps.push(end);
    return gaps
      .filter((at) => !repairs.some((other) => other !== own && other.start <= at + 1 && at <= other.end))
      .map((at) => ({ start: at, end: at + 1, text: '' }));
  });
}

/** Takes a mark out, and a blank that would be one too many. */
function deletion(text: string, { start, end }: { start: number; end: number }): Repair {
  const [before, after] = [text.slice(Math.max(0, start - 2), start), text.slice(end)];
  const left = /\s$/.test(before) && /^(?:[\s.,;:!?…)\]”»]|$)/.test(after) ? 1 : 0;
  const right = /^$|[([{“„«]$/.test(before) ? (/^\s*/.exec(after)?.[0].length ?? 0) : 0;
  return { start: start - left, end: end + right, text: '' };
}

/** Signs beside numbers that a translation lacks, for which another attempt is worth its while: 5 is not $5, or 5 %. */
function lostSigns(source: string, target: string): string[] {
  const signs = /[$€£¥%°]/g;
  const left: string[] = target.match(signs) ?? [];
  return Array.from(source.match(signs) ?? []).filter((sign) => {
    const at = left.indexOf(sign);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** The number that most likely was meant: the most common digits at the start and the end. */
function mostAlike(lost: NumberToken, candidates: readonly NumberToken[]): NumberToken | undefined {
  const likeness = ({ digits }: NumberToken) => {
    let [start, end] = [0, 0];
    const length = Math.min(digits.length, lost.digits.length);
    while (start < length && digits[start] === lost.digits[start]) ++start;
    while (end < length && digits.at(-1 - end) === lost.digits.at(-1 - end)) ++end;
    return start + end;
  };
  return [...candidates].sort((a, b) => likeness(b) - likeness(a))[0];
}

/** Where the things that the model has lost are put: beside the words they stood beside. */
function insertions(
  text: string,
  alignment: Alignment | undefined,
  { masked }: Masked,
  missing: readonly (Item | NumberToken)[],
  solid: readonly { start: number; end: number }[],
): Repair[] {
  const lost = missing
    .map((thing) => {
      if ('mask' in thing) return { value: thing.value, span: thing.masked, item: thing };
      return { value: masked.slice(thing.start, thing.end), span: [thing.start, thing.end] satisfies Span };
    })
    .sort((a, b) => a.span[0] - b.span[0]);
  // Marks count as words; what is lost does not, for nothing in the translation comes from it.
  const worded = (marked: string) => marked.replace(/⟦\d⟧/g, 'xxx');
  let words = masked;
  for (const { span } of lost)
    words = words.slice(0, span[0]) + ' '.repeat(span[1] - span[0]) + words.slice(span[1]);
  words = worded(words);
  const units = unitsOf(worded(text));
  const links = alignment ? linksOf(alignment, units) : linksByPosition(words, worded(text), units);
  const isWord = (part: string) => /[\p{L}\p{N}]/u.test(part);
  // What was put where before: things that come to the same place must not melt into one.
  const filled = new Map<number, { end: number; open: boolean }>();
  return lost.map(({ value, span, item }): Repair => {
    const after = masked.slice(span[1]);
    let at: number;
    if (!isWord(words.slice(0, span[0]))) at = 0;
    else if (!isWord(words.slice(span[1]))) at = endOf(text, after);
    else at = between(text, units, links, span[0]);
    const inside = solid.find(({ start, end }) => start < at && at < end);
    if (inside) at = inside.end;
    const before = filled.get(at);
    const bare = before ? before.open && before.end < span[0] : /[^\s([{“„«‘"'/]$/u.test(text.slice(0, at));
    const left = value && bare ? ' ' : '';
    const right = value && /^[^\s.,;:!?…)\]}”»’"'/]/u.test(text.slice(at)) ? ' ' : '';
    if (value) filled.set(at, { end: span[1], open: !right });
    return { start: at, end: at, text: left + value + right, lead: left.length, ...(item && { item }) };
  });
}

/** The end of a text: before its last mark of punctuation, if the source has one there as well. */
function endOf(text: string, after: string): number {
  const punctuation = /^[.!?…:;,)\]"'”’»]/.test(after) ? /[.!?…:;,)\]"'”’»]+$/.exec(text.slice(-20)) : null;
  return text.length - (punctuation?.[0].length ?? 0);
}

function between(text: string, units: readonly Unit[], links: Link[][], offset: number): number {
  const cut = bestCut(links, offset, 0, units.length);
  // Not before a comma or full stop that belongs to the word before it, unless nothing follows.
  const next = units[cut];
  if (!next) return units.at(-1)?.end ?? text.length;
  return cut > 0 && !/^\s/.test(text.slice(units[cut - 1]?.end)) ? (units[cut - 1]?.end ?? 0) : next.start;
}

/** Puts line breaks back at the blanks that stand at the same height as in the source. */
function lineBreaks(text: string, { masked, breaks }: Masked, repairs: readonly Repair[]): Repair[] {
  if (!breaks.length) return [];
  const blanks = Array.from(text.matchAll(/ /g), ({ index }) => index).filter(
    (at) => !repairs.some(({ start, end }) => start <= at && at < end),
  );
  return breaks.flatMap(({ at, text: wrap }) => {
    const wanted = (at * text.length) / masked.length;
    const nearest = blanks.reduce(
      (a, b) => (Math.abs(b - wanted) < Math.abs(a - wanted) ? b : a),
      blanks[0] ?? -1,
    );
    if (nearest < 0) return [];
    blanks.splice(0, blanks.indexOf(nearest) + 1);
    return [{ start: nearest, end: nearest + 1, text: wrap }];
  });
}

/** Sorts repairs, and sees to it that none reaches into another. */
function inOrder(repairs: readonly Repair[]): Repair[] {
  let done = 0;
  return repairs
    .map((repair, i) => ({ repair, i }))
    .sort((a, b) => a.repair.start - b.repair.start || a.repair.end - b.repair.end || a.i - b.i)
    .map(({ repair }) => {
      const start = Math.max(repair.start, done);
      done = Math.max(repair.end, start);
      return { ...repair, start, end: done };
    });
}

/** Puts blanks where repairs would make one number of two. Each was made for the text as it is; beside each other they may. */
function setApart(text: string, { masked }: Masked, repairs: readonly Repair[]): Repair[] {
  const digit = /\p{Nd}/u;
  const joined = (neighbour: string) => /[\p{Nd}⟦⟧]/u.test(neighbour); // as in the source
  let last = '';
  return repairs.map((repair, i) => {
    const { start, end, item, lead = 0 } = repair;
    if (start > (repairs[i - 1]?.end ?? 0)) last = text.charAt(start - 1);
    const melts = digit.test(last) && digit.test(repair.text.charAt(0));
    const left = melts && !(item && joined(masked.charAt(item.masked[0] - 1))) ? ' ' : '';
    last = repair.text.slice(-1) || last;
    const next = end < (repairs[i + 1]?.start ?? text.length) ? text.charAt(end) : '';
    const cut = (repair.text || start < end) && digit.test(last) && digit.test(next);
    const right = cut && !(item && joined(masked.charAt(item.masked[1]))) ? ' ' : '';
    return { ...repair, text: left + repair.text + right, lead: lead + left.length };
  });
}

function trimmed(translation: string | AlignedTranslation): AlignedTranslation {
  const { text, alignment } = typeof translation === 'string' ? { text: translation } : translation;
  const start = text.length - text.trimStart().length;
  const end = text.trimEnd().length;
  if (!start && end === text.length) return { text, alignment };
  const edits = [
    { start: 0, end: Math.min(start, end), text: '' },
    { start: Math.max(start, end), end: text.length, text: '' },
  ];
  return { text: text.trim(), alignment: alignment && moveAlignment(alignment, [], edits) };
}
