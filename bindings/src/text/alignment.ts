// Which words of a translation stem from which words of its source.
import type { Edit, Span } from './edits.js';
import { moveSpans } from './edits.js';
import { utf16Offsets } from './offsets.js';

/** Attention between the pieces of a translation and those of its source, by UTF-16 offsets. */
export interface Alignment {
  source: Span[];
  target: Span[];
  /** For each target piece its weights on the source pieces; rows need not sum to one. */
  weights: ArrayLike<number>[];
  /** For each row the source piece that its first weight belongs to; the first one, unless given. */
  first?: number[] | undefined;
}

/** A translation, and if the engine tells it, where its words come from. */
export interface AlignedTranslation {
  text: string;
  alignment?: Alignment | undefined;
}

/** A source passage that a target word comes from, and how much of it. */
export interface Link {
  span: Span;
  weight: number;
}

/** Words, single signs, and objects that stand for something (U+FFFC): what markup can stand around. */
export interface Unit {
  start: number;
  end: number;
  /** Not a word. */
  sign: boolean;
}

/** Makes an alignment of what the engine reports: byte offsets of pieces, and attention row after row. */
export function alignmentOfBytes(
  source: string,
  target: string,
  sourceBytes: ArrayLike<number>,
  targetBytes: ArrayLike<number>,
  attention: ArrayLike<number>,
): Alignment {
  const spans = (offsets: number[]) =>
    offsets.slice(1).map((end, i): Span => [Math.min(offsets[i] ?? 0, end), end]);
  const sources = spans(utf16Offsets(source, sourceBytes));
  const targets = spans(utf16Offsets(target, targetBytes));
  const columns = targets.length ? Math.floor(attention.length / targets.length) : 0;
  const weights = targets.map((_, row) =>
    Array.from({ length: sources.length }, (_, column) =>
      column < columns ? (attention[row * columns + column] ?? 0) : 0,
    ),
  );
  return { source: sources, target: targets, weights };
}

/** The alignment of the texts that came out of edits on both sides. */
export function moveAlignment(
  { source, target, ...rest }: Alignment,
  sourceEdits: readonly Edit[],
  targetEdits: readonly Edit[],
): Alignment {
  return { source: moveSpans(source, sourceEdits), target: moveSpans(target, targetEdits), ...rest };
}

/** One alignment of texts that are put one after the other, each with its offsets in the whole. */
export function joinAlignments(
  parts: readonly { alignment: Alignment; source: number; target: number }[],
): Alignment {
  const shift = (spans: Span[], by: number) => spans.map(([start, end]): Span => [start + by, end + by]);
  const source = parts.flatMap((part) => shift(part.alignment.source, part.source));
  const target = parts.flatMap((part) => shift(part.alignment.target, part.target));
  let before = 0;
  const first = parts.flatMap(({ alignment }) => {
    const columns = alignment.weights.map((_, row) => before + (alignment.first?.[row] ?? 0));
    before += alignment.source.length;
    return columns;
  });
  return { source, target, weights: parts.flatMap(({ alignment }) => alignment.weights), first };
}

/** Cuts a text into words and signs; each of the given passages, which are sorted, is one word. */
export function unitsOf(text: string, solid: readonly { start: number; end: number }[] = []): Unit[] {
  const units: Unit[] = [];
  let next = 0;
  for (const match of text.matchAll(/[\p{L}\p{N}\p{M}_]+(?:['’-][\p{L}\p{N}\p{M}_]+)*|[^\s]/gu)) {
    const [start, end] = [match.index, match.index + match[0].length];
    while ((solid[next]?.end ?? Infinity) <= start) ++next;
    const around = (solid[next]?.start ?? Infinity) < end ? solid[next] : undefined;
    const unit = {
      start: Math.min(start, around?.start ?? start),
      end: Math.max(end, around?.end ?? end),
      sign: !around && !/^[\p{L}\p{N}\p{M}_\uFFFC]/u.test(match[0]),
    };
    const last = units.at(-1);
    if (last && unit.start < last.end) last.end = Math.max(last.end, unit.end);
    else units.push(unit);
  }
  return units;
}

/** For each unit of the target the source passages that its pieces attend to most. */
export function linksOf(
  { source, target, weights, first: columns }: Alignment,
  units: readonly Unit[],
): Link[][] {
  const links: Link[][] = units.map(() => []);
  let first = 0;
  target.forEach(([start, end], piece) => {
    const row = Array.from(weights[piece] ?? []);
    const strong = Math.max(0, ...row) / 4; // the long tail of attention is noise
    const found = row.flatMap((weight, i): Link[] => {
      const span = source[i + (columns?.[piece] ?? 0)];
      return span && span[0] < span[1] && weight > strong ? [{ span, weight }] : [];
    });
    while (first < units.length && (units[first]?.end ?? 0) <= start) ++first;
    for (let unit = first; unit < units.length && (units[unit]?.start ?? end) < end; ++unit) {
      links[unit]?.push(...found);
    }
  });
  return links;
}

/** Links for want of an alignment: words that are the same in both texts, else what stands at the same height. */
export function linksByPosition(source: string, target: string, units: readonly Unit[]): Link[][] {
  const sourceUnits = unitsOf(source);
  const places = new Map<string, Unit | undefined>();
  for (const unit of sourceUnits) {
    const word = source.slice(unit.start, unit.end);
    places.set(word, places.has(word) ? undefined : unit);
  }
  const same = units.map(({ start, end }) => places.get(target.slice(start, end)));
  const known = new Set(same);
  const others = sourceUnits.filter((unit) => !known.has(unit));
  const open = same.filter((unit) => !unit).length;
  let next = 0;
  return same.map((unit) => {
    const at = unit ?? others[Math.floor(((next++ + 0.5) * others.length) / open)];
    return at ? [{ span: [at.start, at.end], weight: 1 }] : [];
  });
}

/** The part, 0 … 1, of a unit's links that lies between two offsets of the source; one half if it has none. */
export function share(links: readonly Link[] | undefined, from: number, to: number): number {
  let inside = 0;
  let total = 0;
  for (const { span, weight } of links ?? []) {
    const common = Math.min(span[1], to) - Math.max(span[0], from);
    if (common > 0) inside += (weight * common) / (span[1] - span[0]);
    total += weight;
  }
  return total ? inside / total : 0.5;
}

/** Between which units of the target, `low` … `high`, the source offset falls that divides them best. */
export function bestCut(links: readonly Link[][], offset: number, low: number, high: number): number {
  let score = 0;
  let best = 0;
  let cut = low;
  for (let unit = low; unit < high; ++unit) {
    score += share(links[unit], -Infinity, offset) - 0.5;
    if (score > best + 1e-9) {
      best = score;
      cut = unit + 1;
    }
  }
  return cut;
}
