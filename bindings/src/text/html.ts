// Translates HTML as a string: nothing is parsed into a document, so nothing can be executed.
import { isIndex, isTranslatable, isUntranslated, isVoid, roleOf } from './elements.js';
import { decode, decodeReference, encodeAttribute, encodeText, referencePattern } from './html-entities.js';
import type { TagToken, Token } from './html-tokenizer.js';
import { tokenize } from './html-tokenizer.js';
import type { Block } from './inline.js';
import { translateBlocks } from './inline.js';
import type { InlineToken } from './plain.js';
import type { TranslateOptions, TranslateTexts } from './translate.js';

/** Markup as it is written; attributes are changed in it after their translation. */
interface Written {
  html: string;
}

/** A piece of the output: markup, or a block that is translated. */
type Part = Written | { block: Block<Written> };

/** An attribute's text on its way through the model. */
interface AttributeJob {
  tag: Written;
  /** Where the value stands in the tag. */
  span: [start: number, end: number];
  quote: string;
  text: string;
}

/** Translates the text of an HTML document or fragment; every tag stays, and stays what it is. */
export async function translateHTML(
  html: string,
  options: TranslateOptions,
  translate: TranslateTexts,
): Promise<string> {
  const { parts, attributes } = read(tokenize(html));
  const blocks = parts.flatMap((part) => ('block' in part ? [part.block] : []));
  const texts = attributes.map(({ text }): Block<Written> => ({
    tokens: [{ kind: 'text', text }],
    lines: true,
  }));
  const results = await translateBlocks([...blocks, ...texts], options, translate);

  // From the last attribute to the first, so that offsets in the same tag stay true.
  attributes.reverse().forEach((attribute, i) => {
    setAttribute(attribute, results[results.length - 1 - i] ?? []);
  });
  const translated = results.values();
  return parts
    .map((part) => ('block' in part ? write(part.block.tokens, translated.next().value ?? []) : part.html))
    .join('');
}

/** Sorts tokens into blocks, the markup between them, and attributes. */
function read(tokens: readonly Token[]): { parts: Part[]; attributes: AttributeJob[] } {
  const parts: Part[] = [];
  const attributes: AttributeJob[] = [];
  const partners = partnersOf(tokens);
  let running: InlineToken<Written>[] = [];
  const between = (tag: Written) => {
    if (running.length) parts.push({ block: { tokens: running } });
    running = [];
    parts.push(tag);
  };
  for (let i = 0; i < tokens.length; ++i) {
    const token = tokens[i];
    if (!token) break;
    const tag = { html: token.raw };
    if (token.kind === 'text') {
      for (const part of textOf(token.raw)) running.push(part);
    } else if (token.kind === 'comment') {
      running.push({ kind: 'point', name: '', tag });
    } else if (token.kind !== 'start' && token.kind !== 'end') {
      between(tag);
    } else {
      const { name } = token;
      let role = roleOf(name, token.kind === 'start' ? readerOf(token) : () => undefined);
      if (token.kind === 'end') {
        if (role === 'block' || role === 'kept') between(tag);
        else running.push({ kind: isVoid(name) ? 'point' : 'close', name, tag });
        continue;
      }
      if (role === 'inline' && beginsIndex(tokens, i, name)) role = 'object';
      if (role === 'block' || role === 'inline' || isVoid(name)) attributes.push(...attributesOf(token, tag));
      else {
        const end = endOf(tokens, i, partners, role === 'kept');
        // As in a document: an empty element may have a title or a placeholder.
        if (role !== 'kept' && end <= i + 2) attributes.push(...attributesOf(token, tag));
        tag.html = tokens
          .slice(i, end)
          .map(({ raw }) => raw)
          .join('');
        i = end - 1;
      }
      if (role === 'block' || role === 'kept') between(tag);
      else running.push({ kind: role === 'inline' ? 'open' : role, name, tag });
    }
  }
  if (running.length) parts.push({ block: { tokens: running } });
  return { parts, attributes };
}

/** Whether an index begins here, such as a footnote's link; it ends soon, or it is none. */
function beginsIndex(tokens: readonly Token[], start: number, name: string): boolean {
  const near = tokens.slice(start + 1, start + 9);
  const end = near.findIndex((token) => token.kind === 'end' && token.name === name);
  const text = near.slice(0, Math.max(0, end)).map(({ kind, raw }) => (kind === 'text' ? raw : ''));
  return end >= 0 && isIndex(name, text.join(''));
}

const readerOf = (token: TagToken) => (name: string) =>
  token.attributes.find((attribute) => attribute.name === name)?.value;

/** For each start tag where its end tag is, and the other way round; elements of the same name may be nested. */
function partnersOf(tokens: readonly Token[]): (number | undefined)[] {
  const partners: number[] = [];
  const open = new Map<string, number[]>();
  tokens.forEach((token, i) => {
    if (!('name' in token)) return;
    const starts = open.get(token.name) ?? [];
    open.set(token.name, starts);
    if (token.kind === 'start') return void starts.push(i);
    const start = starts.pop();
    if (start === undefined) return;
    partners[start] = i;
    partners[i] = start;
  });
  return partners;
}

/**
 * The index after the end of an element. Without an end tag that is where a browser puts it: before a sibling, or where
 * the element around it ends; for running text, before the next block.
 */
function endOf(
  tokens: readonly Token[],
  start: number,
  partners: readonly (number | undefined)[],
  block: boolean,
): number {
  const first = tokens[start];
  if (first?.kind !== 'start' || (first.selfClosing && (first.name === 'svg' || first.name === 'math')))
    return start + 1;
  const close = partners[start];
  if (close !== undefined) return close + 1;
  const isNext = (name: string) =>
    block && first.name !== 'p'
      ? siblings[first.name]?.split(' ').includes(name)
      : roleOf(name, () => undefined) === 'block';
  let i = start + 1;
  for (let token = tokens[i]; token; token = tokens[i]) {
    const partner = partners[i] ?? i;
    if (('name' in token && isNext(token.name)) || partner < start) return i;
    i = Math.max(i, partner) + 1;
  }
  return i;
}

const cells = 'td th tr tbody tfoot';
/** What ends an element whose end tag may be left out. */
const siblings: Readonly<Record<string, string>> = {
  li: 'li',
  dt: 'dt dd',
  dd: 'dt dd',
  td: cells,
  th: cells,
  tr: 'tr tbody tfoot',
  thead: 'tbody tfoot',
  tbody: 'tbody tfoot',
  option: 'option optgroup',
  optgroup: 'optgroup',
};

/** Decodes text; a character reference that is not known goes through as it is. */
function textOf(raw: string): InlineToken<Written>[] {
  const tokens: InlineToken<Written>[] = [];
  let done = 0;
  const plain = (to: number) => {
    if (done < to) tokens.push({ kind: 'text', text: raw.slice(done, to) });
  };
  for (const match of raw.matchAll(referencePattern)) {
    const [reference] = match;
    const character = decodeReference(match);
    if (character === reference) continue;
    plain(match.index);
    done = match.index + reference.length;
    if (character === undefined) tokens.push({ kind: 'object', name: '', tag: { html: reference } });
    else tokens.push({ kind: 'text', text: character, raw: reference });
  }
  plain(raw.length);
  return tokens;
}

function attributesOf(token: TagToken, tag: Written): AttributeJob[] {
  const reader = readerOf(token);
  if (isUntranslated(reader)) return [];
  const seen = new Set<string>();
  return token.attributes.flatMap(({ name, value, span, quote }) => {
    // Of attributes with the same name browsers see only the first.
    const text =
      span && !seen.has(name) && isTranslatable(token.name, name, reader) ? decode(value) : undefined;
    seen.add(name);
    return text !== undefined && span ? [{ tag, span, quote, text }] : [];
  });
}

function setAttribute(
  { tag, span: [start, end], quote, text }: AttributeJob,
  result: readonly InlineToken<Written>[],
) {
  const translation = result
    .map((token) => (token.kind === 'text' ? (token.raw ?? token.text) : ''))
    .join('');
  if (translation === text) return;
  const written = encodeAttribute(translation, quote);
  tag.html = tag.html.slice(0, start) + (quote ? written : `"${written}"`) + tag.html.slice(end);
}

/** Writes a block; one in which nothing changed, to the letter as it was. */
function write(source: readonly InlineToken<Written>[], result: readonly InlineToken<Written>[]): string {
  const letters = (tokens: readonly InlineToken<Written>[]) =>
    tokens.map((token) => (token.kind === 'text' ? (token.raw ?? token.text) : token.tag.html)).join('');
  const before = letters(source);
  if (letters(result) === before) return before;

  let html = '';
  let text = '';
  const flush = () => {
    html += text.replace(/&$/, '&amp;');
    text = '';
  };
  for (const token of result) {
    if (token.kind !== 'text') {
      flush();
      html += token.tag.html;
    } else {
      // Even what stays as it was gets its signs encoded: new neighbours might make a tag of them.
      text += token.raw === undefined ? encodeText(token.text) : token.raw.replace(/</g, '&lt;');
    }
  }
  flush();
  return html;
}
