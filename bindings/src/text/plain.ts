// Takes running text apart into plain text and the markup in it.

/** A stretch of text; `raw`, if given, is how the source writes it, and then it is never cut. */
export interface InlineText {
  kind: 'text';
  text: string;
  raw?: string;
}

/**
 * Markup in running text. `open` and `close` stand around words, a `point` stands between them, an `object` is like a
 * word itself, a `break` may end a sentence.
 */
export interface InlineTag<T> {
  kind: 'open' | 'close' | 'point' | 'object' | 'break';
  name: string;
  tag: T;
}

/** A part of running text. */
export type InlineToken<T> = InlineText | InlineTag<T>;

/** What stands for an object in a text. */
export const objectSign = '\uFFFC';

/** Text as the source writes it and as the model gets it, with its place in the plain text. */
interface Chunk {
  start: number;
  text: string;
  raw: string;
}

/** Markup and the place in the plain text where it stands. */
export interface PlacedTag<T> {
  at: number;
  /** Whether a blank after it was left out of the plain text, since there is one before it. */
  spaced?: boolean;
  token: InlineTag<T>;
}

/** Which tags belong together. */
export type Partners<T> = ReadonlyMap<PlacedTag<T>, PlacedTag<T>>;

/** A block without its markup, and the markup without the block. */
export interface Plain<T> {
  text: string;
  parts: (Chunk | PlacedTag<T>)[];
}

/**
 * Cuts at the breaks where a sentence ends; where it goes on, a break is only a point in it. Also cuts between elements
 * that only their style keeps apart, such as the links of a menu: their words would melt into one.
 */
export function sectionsOf<T>(
  tokens: readonly InlineToken<T>[],
): { tokens: InlineToken<T>[]; end?: InlineTag<T> }[] {
  const sections: { tokens: InlineToken<T>[]; end?: InlineTag<T> }[] = [];
  let section: InlineToken<T>[] = [];
  let before = ''; // the end of the words so far
  let last = ''; // the text before the tags that we are among, or the end of it
  let closed = false;
  tokens.forEach((token, i) => {
    if (token.kind === 'text') {
      before = token.text.trimEnd().slice(-2) || before;
      last = token.text.slice(-4);
    }
    if (token.kind === 'open' && closed && areApart(last, tokens, i)) {
      sections.push({ tokens: section });
      section = [];
      before = '';
    }
    closed = token.kind === 'close' || (closed && token.kind === 'point');
    if (token.kind !== 'break') return section.push(token);
    const next = tokens.slice(i + 1, i + 9).find(({ kind }) => kind !== 'open' && kind !== 'close');
    const goesOn =
      next?.kind === 'text' && /^\s*["'“(]?\p{Ll}/u.test(next.text) && /[\p{L}\p{N},]$/u.test(before);
    if (goesOn) return section.push({ ...token, kind: 'point' });
    before = '';
    sections.push({ tokens: section, end: token });
    return (section = []);
  });
  sections.push({ tokens: section });
  return sections;
}

/** Whether words meet here without a blank; a single letter, large or coloured, is the beginning of a word. */
function areApart<T>(before: string, tokens: readonly InlineToken<T>[], at: number): boolean {
  const next = tokens.slice(at, at + 8).find(({ kind }) => kind === 'text' || kind === 'object');
  const after = next?.kind === 'text' ? next.text : '';
  return (
    /[\p{L}\p{M}\p{N}]$/u.test(before) &&
    /^[\p{L}\p{N}]/u.test(after) &&
    !/^\p{L}$/u.test(before) &&
    !/^\p{L}$/u.test(after)
  );
}

/** Takes the text out of a block; blanks in a row become one, unless lines have a meaning. */
export function plainOf<T>(tokens: readonly InlineToken<T>[], lines: boolean): Plain<T> {
  const parts: Plain<T>['parts'] = [];
  let text = '';
  let last = ''; // its last sign
  const add = (written: string, raw: string) => {
    parts.push({ start: text.length, text: written, raw });
    text += written;
    last = written.slice(-1) || last;
  };
  for (const token of tokens) {
    if (token.kind !== 'text') {
      parts.push({ at: text.length, token });
      if (token.kind === 'object') text += last = objectSign;
      if (token.name === 'br' && !/\s/.test(last)) add(' ', '');
    } else if (token.raw !== undefined || lines) {
      add(token.text, token.raw ?? token.text);
    } else {
      for (const [part] of token.text.matchAll(/[\t\n\f\r ]+|[^\t\n\f\r ]+/g)) {
        if (!/^[\t\n\f\r ]/.test(part)) add(part, part);
        else if (!/[\t\n\f\r ]/.test(last)) add(' ', part);
        else {
          const before = parts.at(-1);
          if (before && 'token' in before) before.spaced = true;
          add('', part);
        }
      }
    }
  }
  return { text, parts };
}

export function cutAt<T>(parts: Plain<T>['parts'], cuts: readonly number[]): Plain<T>['parts'] {
  let next = 0;
  return parts.flatMap((part) => {
    if ('token' in part || part.text !== part.raw) return [part];
    const chunks: Chunk[] = [];
    let { start } = part;
    const end = start + part.text.length;
    for (; next < cuts.length && (cuts[next] ?? 0) < end; ++next) {
      const cut = cuts[next] ?? 0;
      if (cut > start) chunks.push(chunkOf(part, start, cut));
      start = Math.max(start, cut);
    }
    chunks.push(chunkOf(part, start, end));
    return chunks;
  });
}

function chunkOf({ start, text }: Chunk, from: number, to: number): Chunk {
  const part = text.slice(from - start, to - start);
  return { start: from, text: part, raw: part };
}

/** Which closing tag belongs to which opening one, and the other way round. */
export function partnersOf<T>(tags: readonly PlacedTag<T>[]): Partners<T> {
  const partners = new Map<PlacedTag<T>, PlacedTag<T>>();
  const open: PlacedTag<T>[] = [];
  const counts = new Map<string, number>();
  const count = (name: string, change: number) => counts.set(name, (counts.get(name) ?? 0) + change);
  for (const tag of tags) {
    const { kind, name } = tag.token;
    if (kind === 'open') {
      open.push(tag);
      count(name, 1);
    } else if (kind === 'close' && counts.get(name)) {
      for (let top = open.pop(); top; top = open.pop()) {
        count(top.token.name, -1);
        if (top.token.name !== name) continue;
        partners.set(tag, top).set(top, tag);
        break;
      }
    }
  }
  return partners;
}

/**
 * The tags that stand inside a sentence, or at its edge around a part of it. Those around all of it, or at its edge
 * without a part of their own, need not be placed: they stay before and after it.
 */
export function inside<T>(
  tags: PlacedTag<T>[],
  from: number,
  partners: Partners<T>,
  start: number,
  end: number,
) {
  const within = (tag: PlacedTag<T>) => {
    const other = partners.get(tag)?.at ?? -1;
    if (tag.at === start) return tag.token.kind === 'open' && start < other && other < end;
    if (tag.at === end) return tag.token.kind === 'close' && start < other && other < end;
    return true;
  };
  let first = -1;
  let last = -1;
  for (let i = from; i < tags.length; ++i) {
    const tag = tags[i];
    if (!tag || tag.at > end) break;
    if (!within(tag)) continue;
    if (first < 0) first = i;
    last = i;
  }
  return first < 0 ? [] : tags.slice(first, last + 1);
}
