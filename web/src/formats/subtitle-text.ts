// What is said in a cue: plain text on its way to the translator, with the tags that go back into it.
import type { Line } from './document.js';
import { lastIndex } from './document.js';
import { wrapText } from './subtitle-lines.js';

/** A cue of a subtitle file: when it is shown, in milliseconds, and its lines. */
export interface Cue {
  start: number;
  end: number;
  lines: readonly Line[];
}

/** How a kind of subtitles writes text. */
export interface Dialect {
  /** Matches a tag, globally. */
  tag: RegExp;
  decode: (text: string) => string;
  encode: (text: string) => string;
}

/** A tag and where it stands in the text without tags. */
interface Tag {
  at: number;
  raw: string;
  /** Where the element ends, for a tag that begins one. */
  end?: number;
  /** The other tag of the element. */
  partner?: Tag;
}

/** Text that one speaker says in one cue. */
export interface Utterance {
  cue: Cue;
  lines: readonly Line[];
  /** A dash or a speaker's name. */
  prefix: string;
  /** The text without it, in one line. */
  text: string;
  tags: readonly Tag[];
}

/** Where the passages of a translation come from, by offsets in an utterance's text and in its translation. */
export interface Link {
  source: readonly [start: number, end: number];
  target: readonly [start: number, end: number];
  weight: number;
}

const speaker = /^(?:[-‐–—]\s*|>>+\s*)?(?:\p{Lu}[\p{Lu}\d .'’-]{1,24}:\s+)?/u;
// With more tags an utterance is an effect, letter by letter, that no translation could keep.
const mostTags = 99;
const sound = /^[-–—\s]*(?:\[[^\]]*\]|\([^)]*\))$/;

/** The utterances of a cue; a dash, a name and a sound begin a new one. */
export function utterancesOf(cue: Cue, dialect: Dialect): Utterance[] {
  const groups: Line[][] = [];
  let wasSound = true;
  for (const line of cue.lines) {
    const plain = line.text.replace(dialect.tag, '').trim();
    const isSound = sound.test(plain);
    if (isSound || wasSound || speaker.exec(plain)?.[0]) groups.push([line]);
    else groups.at(-1)?.push(line);
    wasSound = isSound;
  }
  return groups.map((lines) => utteranceOf(cue, lines, dialect));
}

function utteranceOf(cue: Cue, lines: readonly Line[], { tag, decode }: Dialect): Utterance {
  const raw = lines.map(({ text }) => text.trim()).join(' ');
  const tags: Tag[] = [];
  const open: { name: string; tag: Tag }[] = [];
  let plain = '';
  let isBlank = true;
  let done = 0;
  const add = (text: string) => {
    const flat = decode(text).replace(/\s+/g, ' ');
    const added = isBlank ? flat.trimStart() : flat;
    plain += added;
    if (added) isBlank = added.endsWith(' ');
  };
  for (const { index, 0: written } of raw.matchAll(tag)) {
    add(raw.slice(done, index));
    done = index + written.length;
    const own: Tag = { at: plain.length, raw: written };
    tags.push(own);
    const [, slash, name] = /^[<{](\/?)([A-Za-z]+)/.exec(written) ?? [];
    if (name && !slash) open.push({ name, tag: own });
    else if (name && open.length <= mostTags) {
      const index = lastIndex(open, (entry) => entry.name === name);
      const [partner] = index < 0 ? [] : open.splice(index);
      if (!partner) continue;
      partner.tag.end = own.at;
      partner.tag.partner = own;
      own.partner = partner.tag;
    }
  }
  add(raw.slice(done));
  plain = plain.trimEnd();
  for (const own of tags) own.at = Math.min(own.at, plain.length);
  const prefix = speaker.exec(plain)?.[0] ?? '';
  return { cue, lines, prefix, text: plain.slice(prefix.length), tags };
}

/** The lines of an utterance in its translation; those of the source if nothing changed. */
export function writeUtterance(
  utterance: Utterance,
  translation: string,
  links: readonly Link[],
  dialect: Dialect,
): string[] {
  const { prefix, text, tags, lines } = utterance;
  if (translation === text || tags.length > mostTags) return lines.map((line) => line.text);
  const wrapped = wrapText(prefix + translation);
  const placed = placeTags(tags, prefix.length, text, translation, links);
  let result = '';
  let done = 0;
  for (const { at, raw } of placed) {
    result += dialect.encode(wrapped.slice(done, at)) + raw;
    done = at;
  }
  return (result + dialect.encode(wrapped.slice(done))).split('\n');
}

/** The tags with their places in the translation, in order and nested as elements must be. */
function placeTags(
  tags: readonly Tag[],
  prefix: number,
  source: string,
  target: string,
  links: readonly Link[],
): { at: number; raw: string }[] {
  const places = new Map<Tag, number>();
  /** Edges stay edges; in between there is the same share of the text before it. */
  const placeOf = (at: number) => {
    if (at <= prefix) return at;
    const share = (at - prefix) / source.length;
    return prefix + (share < 1 ? nearest(target, share) : target.length);
  };
  let free = 0;
  for (const tag of tags) {
    if (places.has(tag)) continue;
    const { at, end, partner } = tag;
    if (end === undefined || !partner) {
      places.set(tag, placeOf(at));
      continue;
    }
    const [start, stop] = [Math.max(0, at - prefix), Math.max(0, end - prefix)];
    const isWhole = !/[\p{L}\p{N}]/u.test(source.slice(0, start) + source.slice(stop));
    const words = isWhole ? undefined : wordsFrom(start, stop, links);
    const from = isWhole ? Math.min(at, prefix) : words ? prefix + words[0] : placeOf(at);
    const to = isWhole ? prefix + target.length : words ? prefix + words[1] : placeOf(end);
    // What stood one after the other must not cross now; what stood inside another must stay inside.
    const outer = tags.find(
      (other) => other !== tag && places.has(other) && other.at <= at && (other.end ?? 0) >= end,
    );
    const low = outer ? (places.get(outer) ?? 0) : free;
    const high = (outer?.partner && places.get(outer.partner)) ?? Infinity;
    const first = Math.min(Math.max(from, low), high);
    const last = Math.min(Math.max(to, first), high);
    places.set(tag, first).set(partner, last);
    if (!outer) free = last;
  }
  const closes = (tag: Tag) => Number(tag.partner !== undefined && tag.end === undefined);
  // The sort is stable: tags at the same place keep their order.
  return [...tags]
    .sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0) || closes(b) - closes(a))
    .map((tag) => ({ at: places.get(tag) ?? 0, raw: tag.raw }));
}

/** The passage of the translation whose words come from a passage of the source, if that is known. */
function wordsFrom(from: number, to: number, links: readonly Link[]): [number, number] | undefined {
  const shares = new Map<number, { end: number; share: number }>();
  for (const { source, target, weight } of links) {
    const word = shares.get(target[0]) ?? { end: target[1], share: 0 };
    const overlap = Math.min(source[1], to) - Math.max(source[0], from);
    word.share += (weight * Math.max(0, overlap)) / Math.max(1, source[1] - source[0]);
    shares.set(target[0], word);
  }
  const most = Math.max(0, ...Array.from(shares.values(), ({ share }) => share));
  const own = [...shares].filter(([, { share }]) => share > 0 && share >= Math.min(0.5, most));
  return own.length
    ? [Math.min(...own.map(([start]) => start)), Math.max(...own.map(([, { end }]) => end))]
    : undefined;
}

/** The edge of a word that is nearest to a share of a text. */
function nearest(text: string, share: number): number {
  const ideal = share * text.length;
  const edges = [0, text.length, ...Array.from(text.matchAll(/ /g), ({ index }) => index)];
  return edges.reduce((best, edge) => (Math.abs(edge - ideal) < Math.abs(best - ideal) ? edge : best), 0);
}
