// Running text with markup inside: what is common to HTML as a string and to the nodes of a document.
import { linksByPosition, linksOf, unitsOf } from './alignment.js';
import { breathe } from './breathe.js';
import { defaultMaxLength, divide } from './divide.js';
import type { Span } from './edits.js';
import { buildTree, placeTree } from './placement.js';
import { findNumbers } from './numbers.js';
import { findEntities } from './patterns.js';
import type { InlineTag, InlineToken, Partners, PlacedTag, Plain } from './plain.js';
import { cutAt, inside, objectSign, partnersOf, plainOf, sectionsOf } from './plain.js';
import type { TextObject } from './protect.js';
import { keptIn } from './protect.js';
import type { Restored } from './restore.js';
import { splitSentences } from './sentences.js';
import type { Sentence, TranslateOptions, TranslateTexts } from './translate.js';
import { translateSentences } from './translate.js';

/** Running text: a paragraph, a cell, an attribute. */
export interface Block<T> {
  tokens: InlineToken<T>[];
  /** Whether line breaks in it have a meaning, as in an attribute. */
  lines?: boolean;
}

/** A sentence with more tags than this gets no marks for them: there would be little left of it. */
const maxMarks = 8;

/** A sentence with tags in more places is a list of links, of which a model may well lose a part: it is divided. */
const maxPlaces = 24;

/** A sentence of a block, with the markup inside it. */
interface Job<T> {
  span: Span;
  tags: PlacedTag<T>[];
  partners: Partners<T>;
  objects: ReadonlyMap<TextObject, InlineTag<T>>;
  sentence: Sentence;
  result?: Restored | undefined;
}

/** A block, or its part before a line break, with the sentences in it. */
interface Section<T> {
  plain: Plain<T>;
  jobs: Job<T>[];
  end: InlineTag<T> | undefined;
}

/** Translates blocks, all in one call of the model; each comes back with the same markup in it, each tag once. */
export async function translateBlocks<T>(
  blocks: readonly Block<T>[],
  options: TranslateOptions,
  translate: TranslateTexts,
): Promise<InlineToken<T>[][]> {
  const plans: Section<T>[][] = [];
  for (const { tokens: all, lines = false } of blocks) {
    await breathe(options.signal);
    plans.push(
      sectionsOf(all).map(({ tokens, end }) => {
        const plain = plainOf(tokens, lines);
        return { plain, jobs: jobsOf(plain, options, lines), end };
      }),
    );
  }
  await run(
    plans.flat().flatMap(({ jobs }) => jobs),
    options,
    translate,
  );
  const results: InlineToken<T>[][] = [];
  for (const sections of plans) {
    await breathe(options.signal);
    results.push(sections.flatMap(({ plain, jobs, end }) => [...output(plain, jobs), ...(end ? [end] : [])]));
  }
  return results;
}

async function run<T>(jobs: Job<T>[], options: TranslateOptions, translate: TranslateTexts) {
  const sentences = jobs.map(({ sentence }) => sentence);
  const results = await translateSentences(sentences, options, translate);
  jobs.forEach((job, i) => (job.result = results[i]));

  // Where the model tells no alignment, marks may tell where the tags belong.
  const unclear = jobs.filter(({ tags, objects, result, sentence }) => {
    const needed = tags.length > 0 && result && !result.alignment && result.text !== sentence.text;
    return needed && tags.length + objects.size <= maxMarks;
  });
  const second = await translateSentences(unclear.map(withMarks), options, translate);
  unclear.forEach((job, i) => {
    const result = second[i];
    if (result && !result.problems.length && isOrdered(job, result)) job.result = withAlignment(job, result);
  });
}

/** Finds the sentences of a block, and sees to it that no chunk reaches from one into another. */
function jobsOf<T>(plain: Plain<T>, options: TranslateOptions, lines: boolean): Job<T>[] {
  const { language } = options;
  const all = plain.parts.filter((part) => 'token' in part);
  const tags = all.filter(({ token }) => token.kind !== 'object');
  const objects = all.filter(({ token }) => token.kind === 'object');
  const partners = partnersOf(tags);
  const places = [...new Set(tags.map(({ at }) => at))].values();
  let place = places.next().value ?? Infinity;
  const placesUpTo = (end: number) => {
    let count = 0;
    for (; place < end; place = places.next().value ?? Infinity) ++count;
    return count;
  };
  const sentences = splitSentences(plain.text, { language, markdown: false, flow: !lines })
    .filter(({ kind }) => kind === 'sentence')
    .flatMap(({ text, start, end }) => {
      placesUpTo(start + 1);
      return partsOf(text, start, options, placesUpTo(end));
    });
  plain.parts = cutAt(
    plain.parts,
    sentences.flatMap(({ start, end }) => [start, end]),
  );
  let nearby = 0;
  let next = 0;
  return sentences.map(({ text, start, end }) => {
    while ((tags[nearby]?.at ?? Infinity) < start) ++nearby;
    while ((objects[next]?.at ?? Infinity) < start) ++next;
    const first = next;
    while ((objects[next]?.at ?? Infinity) < end) ++next;
    const own = objects.slice(first, next);
    const signs = own.map(({ at }) => ({ start: at - start, end: at - start + 1, value: objectSign }));
    return {
      span: [start, end],
      tags: inside(tags, nearby, partners, start, end),
      partners,
      objects: new Map(signs.flatMap((sign, i) => (own[i] ? [[sign, own[i].token] as const] : []))),
      sentence: { text, objects: signs },
    };
  });
}

/** A sentence that is too long for the model is several from the start, so that tags stay in their part. */
function partsOf(sentence: string, offset: number, options: TranslateOptions, places: number) {
  const count = Math.max(1, Math.ceil(places / maxPlaces));
  const maxLength = Math.min(options.maxLength ?? defaultMaxLength, Math.ceil(sentence.length / count));
  const parts: Span[] =
    sentence.length > maxLength
      ? divide(sentence, keptIn(sentence, options), maxLength)
      : [[0, sentence.length]];
  return parts.flatMap(([from, to]) => {
    const text = sentence.slice(from, to).trim();
    const start = offset + sentence.indexOf(text, from);
    return text ? [{ text, start, end: start + text.length }] : [];
  });
}

/** The parts of a block, with each sentence in its translation. */
function output<T>({ parts }: Plain<T>, jobs: readonly Job<T>[]): InlineToken<T>[] {
  const tokens: InlineToken<T>[] = [];
  const copy = (part: Plain<T>['parts'][number]) =>
    tokens.push('token' in part ? part.token : { kind: 'text', text: part.text, raw: part.raw });
  const remaining = jobs.values();
  let job = remaining.next().value;
  let own = new Set(job?.tags);
  let kept = job && isKept(job);
  let written = false;
  for (const part of parts) {
    const start = 'token' in part ? part.at : part.start;
    while (job && start >= job.span[1] && !('token' in part && own.has(part))) {
      if (!written) tokens.push(...translated(job));
      job = remaining.next().value;
      own = new Set(job?.tags);
      kept = job && isKept(job);
      written = false;
    }
    if (!job || !belongs(part, job, own) || kept) {
      copy(part);
      written ||= !!job && belongs(part, job, own);
    } else if (!written) {
      tokens.push(...translated(job));
      written = true;
    }
  }
  return tokens;
}

function belongs<T>(
  part: Plain<T>['parts'][number],
  { span }: Job<T>,
  tags: ReadonlySet<PlacedTag<T>>,
): boolean {
  if ('token' in part && part.token.kind !== 'object') return tags.has(part);
  const start = 'token' in part ? part.at : part.start;
  const length = 'token' in part ? 1 : part.text.length;
  return length ? span[0] <= start && start < span[1] : span[0] < start && start < span[1];
}

/** Whether a sentence came back as it was, so that its source can stay to the letter. */
function isKept<T>({ sentence, result }: Job<T>): boolean {
  return (
    !result ||
    (result.text === sentence.text &&
      result.placed.every(({ object }, i) => object === sentence.objects?.[i]))
  );
}

function translated<T>({ sentence, span, tags, partners, objects, result }: Job<T>): InlineToken<T>[] {
  const { text = sentence.text, alignment, placed = [] } = result ?? {};
  const units = unitsOf(text, tags.length > 0 ? solidIn(text) : []);
  const links = alignment ? linksOf(alignment, units) : linksByPosition(sentence.text, text, units);
  const content: { span: Span; token: InlineToken<T> }[] = [];
  let done = 0;
  for (const { object, start, end } of placed) {
    const token = objects.get(object);
    if (!token) continue;
    content.push({ span: [done, start], token: { kind: 'text', text: text.slice(done, start) } });
    content.push({ span: [start, end], token });
    done = end;
  }
  content.push({ span: [done, text.length], token: { kind: 'text', text: text.slice(done) } });
  const tree = buildTree(
    tags.map((tag) => ({ tag, at: tag.at - span[0] })),
    partners,
    sentence.text,
  );
  return placeTree(tree, { source: sentence.text, target: text, units, links, content });
}

/** What no tag may cut: addresses, placeholders, numbers and their like. */
function solidIn(text: string) {
  const entities = findEntities(text).filter(({ kind }) => kind !== 'foreign');
  return [...entities, ...findNumbers(text, entities)].sort((a, b) => a.start - b.start);
}

/** The sentence with a mark for each place where tags stand, except inside a word. */
function withMarks<T>({ sentence, tags, span }: Job<T>): Sentence {
  const places = new Set(tags.map(({ at }) => at - span[0]));
  const marks = [...places]
    .filter(
      (at) =>
        !/[\p{L}\p{N}]/u.test(sentence.text.charAt(at - 1)) ||
        !/[\p{L}\p{N}]/u.test(sentence.text.charAt(at)),
    )
    .map((at) => ({ start: at, end: at, value: '' }));
  const objects = [...(sentence.objects ?? []), ...marks].sort((a, b) => a.start - b.start || a.end - b.end);
  return { text: sentence.text, objects };
}

/** Whether every element still begins before it ends. */
function isOrdered<T>({ tags, partners, span }: Job<T>, { placed }: Restored): boolean {
  const places = new Map(
    placed.map(({ object, start }) => [object.start === object.end ? object.start : -1, start]),
  );
  const place = (tag: PlacedTag<T> | undefined) => places.get((tag?.at ?? -1) - span[0]);
  return tags.every((tag) => {
    const close = tag.token.kind === 'open' ? place(partners.get(tag)) : undefined;
    return close === undefined || (place(tag) ?? 0) <= close;
  });
}

/** Makes an alignment of the marks: what follows a mark in the translation is what follows it in the source. */
function withAlignment<T>({ sentence, objects }: Job<T>, result: Restored): Restored {
  const marks = result.placed.filter(({ object }) => !objects.has(object));
  const places = marks.map(({ object }) => object.start).sort((a, b) => a - b);
  const after = (at: number): Span => [at, places.find((place) => place > at) ?? sentence.text.length];
  const source = [
    [0, places[0] ?? sentence.text.length] as Span,
    ...marks.map(({ object }) => after(object.start)),
  ];
  const starts = [0, ...marks.map(({ start }) => start), result.text.length];
  const target = source.map((_, i): Span => [starts[i] ?? 0, starts[i + 1] ?? 0]);
  const weights = source.map((_, row) => source.map((_, column) => (row === column ? 1 : 0)));
  return {
    ...result,
    placed: result.placed.filter(({ object }) => objects.has(object)),
    alignment: { source, target, weights },
  };
}
