// Puts tags around the words of a translation: each exactly once, nested as in the source.
import type { Link, Unit } from './alignment.js';
import { bestCut, share } from './alignment.js';
import type { Span } from './edits.js';
import type { InlineTag, InlineToken, Partners, PlacedTag } from './plain.js';

/** An element around words of the sentence. */
interface Element<T> {
  kind: 'element';
  start: number;
  end: number;
  open: InlineTag<T>;
  close: InlineTag<T>;
  children: Node<T>[];
}

/**
 * Tags without words of their own. Those of a `cut` divide the sentence, as an element does that begins or ends outside
 * of it: what came before must come before. A `point` may go with the words beside it.
 */
interface Mark<T> {
  kind: 'cut' | 'point';
  at: number;
  /** Whether it stands at the start of the next word or at the end of the one before. */
  side: 'before' | 'after';
  tags: InlineToken<T>[];
}

type Node<T> = Element<T> | Mark<T>;

/** The markup of a sentence, as it is nested. */
export type Tree<T> = Node<T>[];

/** A sentence and its translation. */
export interface Texts<T> {
  source: string;
  target: string;
  /** The words of the target, and the source passages they come from. */
  units: readonly Unit[];
  links: readonly Link[][];
  /** The text and the objects that make up the target. */
  content: readonly { span: Span; token: InlineToken<T> }[];
}

/** Deeper elements are not placed by their words. It would tell nothing new, and there may be thousands. */
const maxDepth = 64;

/** Nests tags that stand at the given offsets of a sentence. */
export function buildTree<T>(
  tags: readonly { tag: PlacedTag<T>; at: number }[],
  partners: Partners<T>,
  source: string,
): Tree<T> {
  const here = new Set(tags.map(({ tag }) => tag));
  const root: Tree<T> = [];
  const open: { node: Element<T>; siblings: Tree<T>; tag: PlacedTag<T> }[] = [];
  let level = root;
  for (const { tag, at } of tags) {
    const { token } = tag;
    const partner = partners.get(tag);
    if (token.kind === 'open' && partner && here.has(partner) && open.length < maxDepth) {
      const node: Element<T> = {
        kind: 'element',
        start: at,
        end: at,
        open: token,
        close: partner.token,
        children: [],
      };
      open.push({ node, siblings: level, tag });
      level = node.children;
    } else if (token.kind === 'close' && partner && open.at(-1)?.tag === partner) {
      const { node, siblings } = open.pop() ?? {};
      if (!node || !siblings) continue;
      node.end = at;
      level = siblings;
      if (source.slice(node.start, at).trim()) level.push(node);
      else addMark(level, 'point', at, sideOf(source, at), spaced(tagsOf(node), tag));
    } else {
      const cut = token.kind !== 'point';
      const side = cut ? (token.kind === 'open' ? 'before' : 'after') : sideOf(source, at);
      addMark(level, cut ? 'cut' : 'point', at, side, cut ? [token] : spaced([token], tag));
    }
  }
  return root;
}

/** A picture keeps the blank on its other side. */
const spaced = <T>(tags: InlineToken<T>[], tag: PlacedTag<T>): InlineToken<T>[] =>
  tag.spaced ? [...tags, { kind: 'text', text: ' ' }] : tags;

/** A point after a blank belongs to the next word. */
const sideOf = (source: string, at: number) => (/\S$/.test(source.slice(0, at)) ? 'after' : 'before');

function addMark<T>(
  level: Tree<T>,
  kind: Mark<T>['kind'],
  at: number,
  side: Mark<T>['side'],
  tags: InlineToken<T>[],
) {
  const last = level.at(-1);
  if (last?.kind === kind && last.at === at && last.side === side) last.tags.push(...tags);
  else level.push({ kind, at, side, tags });
}

const tagsOf = <T>(node: Node<T>): InlineToken<T>[] =>
  node.kind === 'element' ? [node.open, ...node.children.flatMap(tagsOf), node.close] : node.tags;

/** The translation of a sentence with the sentence's markup in it. */
export function placeTree<T>(tree: Tree<T>, texts: Texts<T>): InlineToken<T>[] {
  return placeLevel(tree, texts, [0, texts.units.length], [0, texts.target.length]);
}

/** Something with its place among the characters of the target. */
interface Placed<T> {
  span: Span;
  tokens: () => InlineToken<T>[];
}

/** Places nodes among the given units of the target, which take up the given passage. */
function placeLevel<T>(nodes: Tree<T>, texts: Texts<T>, [low, high]: Span, passage: Span): InlineToken<T>[] {
  const placed: Placed<T>[] = [];
  let group: Node<T>[] = [];
  let first = low;
  let from = passage[0];
  for (const node of nodes) {
    if (node.kind !== 'cut') {
      group.push(node);
      continue;
    }
    const cut = bestCut(texts.links, node.at, first, high);
    const at = clamp(offsetAt(texts, cut, node.side, passage), [from, passage[1]]);
    placed.push(...placeGroup(group, texts, [first, cut], [from, at]));
    placed.push({ span: [at, at], tokens: () => node.tags });
    [group, first, from] = [[], cut, at];
  }
  placed.push(...placeGroup(group, texts, [first, high], [from, passage[1]]));

  const tokens: InlineToken<T>[] = [];
  let done = passage[0];
  for (const { span, tokens: own } of placed) {
    addContent(tokens, texts, done, span[0]);
    tokens.push(...own());
    done = span[1];
  }
  addContent(tokens, texts, done, passage[1]);
  return tokens;
}

/** Places elements and points where no cut lies between them; they may change their order with the words. */
function placeGroup<T>(group: readonly Node<T>[], texts: Texts<T>, range: Span, passage: Span): Placed<T>[] {
  const taken: Span[] = [];
  const elements = new Map<Node<T>, Span>();
  for (const node of group) {
    if (node.kind !== 'element') continue;
    const own = bestRange(node, texts, range, taken);
    if (!own) continue;
    taken.push(own);
    elements.set(node, own);
  }
  const placed = group.map((node): Placed<T> => {
    const units = elements.get(node);
    if (units && node.kind === 'element') {
      const span = clampSpan(
        [offsetAt(texts, units[0], 'before', passage), offsetAt(texts, units[1], 'after', passage)],
        passage,
      );
      return {
        span,
        tokens: () => [node.open, ...placeLevel(node.children, texts, units, span), node.close],
      };
    }
    const mark = node.kind === 'element' ? { at: node.start, side: 'before' as const } : node;
    let cut = bestCut(texts.links, mark.at, ...range);
    const around = taken.find(([start, end]) => start < cut && cut < end);
    if (around) cut = cut - around[0] < around[1] - cut ? around[0] : around[1];
    const at = clamp(offsetAt(texts, cut, mark.side, passage), passage);
    return { span: [at, at], tokens: () => tagsOf(node) };
  });
  // The sort is stable: what stands at one place keeps the order of the source.
  return placed.sort((a, b) => a.span[0] - b.span[0] || a.span[1] - b.span[1]);
}

/** The free units in a row that come most of all from the element's words; undefined if none is free. */
function bestRange<T>(
  node: Element<T>,
  texts: Texts<T>,
  [low, high]: Span,
  taken: readonly Span[],
): Span | undefined {
  const isFree = (unit: number) =>
    low <= unit && unit < high && !taken.some(([start, end]) => start <= unit && unit < end);
  let best: Span | undefined;
  let bestScore = -Infinity;
  let start = low;
  let score = 0;
  let words = 0;
  for (let unit = low; unit < high; ++unit) {
    if (!isFree(unit)) {
      [start, score, words] = [unit + 1, 0, 0];
      continue;
    }
    if (score < 0) [start, score, words] = [unit, 0, 0];
    const own = share(texts.links[unit], node.start, node.end) - 0.5;
    const sign = texts.units[unit]?.sign ?? false;
    score += sign ? own / 4 : own; // where a comma comes from is rarely clear
    if (!sign) ++words;
    // However unclear everything is, a word is a better place than a comma.
    const rank = words > 0 ? score : score - texts.units.length;
    if (rank > bestScore) [best, bestScore] = [[start, unit + 1], rank];
  }
  return best && withSigns(best, texts, texts.source.slice(node.start, node.end).trim(), isFree);
}

/** Takes punctuation in or leaves it out at the edges of a range, as it is in the source. */
function withSigns<T>(
  [start, end]: Span,
  { units, target }: Texts<T>,
  words: string,
  isFree: (unit: number) => boolean,
): Span {
  const textOf = (unit: Unit | undefined) => (unit ? target.slice(unit.start, unit.end) : '');
  const [firstIsWord, lastIsWord] = [
    /^[\p{L}\p{N}\uFFFC]/u.test(words),
    /[\p{L}\p{M}\p{N}\uFFFC]$/u.test(words),
  ];
  while (firstIsWord && end - start > 1 && units[start]?.sign) ++start;
  while (lastIsWord && end - start > 1 && units[end - 1]?.sign) --end;
  if (!firstIsWord && isFree(start - 1) && words.startsWith(textOf(units[start - 1]))) --start;
  if (!lastIsWord && isFree(end) && words.endsWith(textOf(units[end]))) ++end;
  return [start, end];
}

/** The offset in the target before a unit, or after the one before it. */
function offsetAt<T>({ units }: Texts<T>, unit: number, side: Mark<T>['side'], [from, to]: Span): number {
  if (side === 'before') return units[unit]?.start ?? to;
  return unit > 0 ? (units[unit - 1]?.end ?? from) : from;
}

const clamp = (value: number, [low, high]: Span) => Math.max(low, Math.min(high, value));

const clampSpan = ([start, end]: Span, passage: Span): Span => {
  const from = clamp(start, passage);
  return [from, Math.max(from, clamp(end, passage))];
};

/** Adds the text and the objects between two offsets of the target. */
function addContent<T>(tokens: InlineToken<T>[], { content }: Texts<T>, from: number, to: number) {
  for (const { span, token } of content) {
    const [start, end] = [Math.max(span[0], from), Math.min(span[1], to)];
    if (start >= end) continue;
    if (token.kind === 'text')
      tokens.push({ kind: 'text', text: token.text.slice(start - span[0], end - span[0]) });
    else tokens.push(token);
  }
}
