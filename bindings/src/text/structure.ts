// The lines of a text: what of them is layout or Markdown, and what is prose.
import { beginsWithMonth } from './abbreviations.js';
import type { Span } from './edits.js';

const indent = /^[ \t\u00a0\u3000]*/;
const quoteMarks = /^(?:>[ \t]?)+[ \t]*/;
const heading = /^#{1,6}[ \t]+/;
const bullet = /^(?:[-*+•‣◦⁃∙·–—▪▫●○■□►▸✓✔✗✘☐☑☒][ \t]+)(?:\[[ xX]\][ \t]+)?/u;
const numbering = /^(?:\(?\d{1,3}[.)]|\(?[a-zA-Z]\)|\([ivxIVX]{1,4}\)|[ivx]{1,4}\))[ \t]+/;
// The mark, and what the code is written in. A line with ``` on both sides of something is no fence.
const fence = /^[ \t]*(?:>[ \t]*)*(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*)$/;
const frontMatter = /^---[ \t]*\r?\n(?=[\w"'-]+[ \t]*:)(?:[^\n]*\n)*?---[ \t]*(?:\r?\n|$)/;
const tableCell = /(?:\\.|`[^`]*`|[^|\\`]|[\\`])+/g;
// Tabs and wide gaps are columns.
const columns = /(?:[ ]*\t[ \t]*|[ ]{3,})/;

/**
 * The passages of a text that hold prose, in order; what lies between them is layout that has to stay as it is.
 * A passage is at most a paragraph. It has line breaks inside only where a sentence was wrapped.
 */
export function* proseOf(text: string, markdown = true): Generator<Span> {
  const lines = linesOf(text);
  const endOfFence = fenceEnds(text, lines);
  let skipTo = markdown ? (frontMatter.exec(text)?.[0].length ?? 0) : 0;
  // The last passage, while the next line may still belong to it, and the start of its last line.
  let open: { passage: Span; mark: string; line: number } | undefined;
  for (const [index, [start, end]] of lines.entries()) {
    if (start < skipTo) continue;
    const line = text.slice(start, end);
    const [, mark, info = ''] = (markdown ? fence.exec(line) : undefined) ?? [];
    const closed = mark === undefined ? undefined : endOfFence(mark, index);
    // A fence that is never closed is only a strange line, or one that is being written: the text after it is to be
    // translated, and so is what it says itself, if that is more than the name of a language.
    if (mark && (closed || !info.includes(' '))) {
      if (open) yield open.passage;
      open = undefined;
      skipTo = closed ?? skipTo;
      continue;
    }
    const at = prefixLength(line, markdown);
    const body = line.slice(at);
    const layout = line.slice(0, at).replace(/[^>]/g, '');
    if (open?.mark === layout) {
      const before = text.slice(Math.max(open.passage[0], open.line), open.passage[1]);
      if (continues(before, line.slice(0, at), body)) {
        open.passage[1] = end - body.length + body.trimEnd().length;
        open.line = start;
        continue;
      }
    }
    if (open) yield open.passage;
    open = undefined;
    const isRow = markdown && body.startsWith('|');
    const passages = isRow ? cellsOf(text, start + at, body) : columnsOf(text, start + at, body);
    const last = isRow ? undefined : passages.pop();
    yield* passages;
    if (last) open = { passage: last, mark: layout, line: start };
  }
  if (open) yield open.passage;
}

/** The cells of a row of a table. */
function cellsOf(text: string, start: number, row: string): Span[] {
  return Array.from(row.matchAll(tableCell)).flatMap(({ index, 0: cell }) =>
    trimmed(text, start + index, start + index + cell.length),
  );
}

/** The parts of a line, which tabs or wide gaps divide. */
function columnsOf(text: string, start: number, line: string): Span[] {
  let from = start;
  return line.split(columns).flatMap((part) => {
    from = text.indexOf(part, from);
    const found = trimmed(text, from, from + part.length);
    from += part.length;
    return found;
  });
}

/** Tells where the fence ends that a line begins, if it ever does. */
function fenceEnds(text: string, lines: readonly Span[]) {
  // For each sign the shortest mark that no line behind closes: longer ones need not be looked for either.
  const open = new Map<string, number>();
  return (mark: string, index: number): number | undefined => {
    const sign = mark.charAt(0);
    if (mark.length >= (open.get(sign) ?? Infinity)) return undefined;
    for (let i = index + 1; i < lines.length; ++i) {
      const [from, to] = lines[i] ?? [0, 0];
      if (closes(text.slice(from, to), mark)) return to;
    }
    open.set(sign, mark.length);
    return undefined;
  };
}

/** Whether a line goes on with the sentence that the line before it, a long one, has left open. */
function continues(before: string, prefix: string, body: string): boolean {
  return (
    before.length >= 40 &&
    !/[.!?:;…|\\]["'”’»)\]]*$|\s{2}$/.test(before) &&
    /^[\s>]*$/.test(prefix) &&
    /^["'“‘«(]?\p{Ll}/u.test(body) &&
    !columns.test(body)
  );
}

/** How many characters at the start of a line are indentation, quotation and list marks, or a heading's. */
function prefixLength(line: string, markdown: boolean): number {
  let at = 0;
  const skip = (pattern: RegExp) => {
    const length = pattern.exec(line.slice(at))?.[0].length ?? 0;
    at += length;
    return length > 0;
  };
  skip(indent);
  if (skip(quoteMarks)) skip(indent);
  if (markdown && skip(heading)) return at;
  // "3. Oktober" is a date, not the third point of a list.
  const number = numbering.exec(line.slice(at))?.[0];
  if (number && !beginsWithMonth(line.slice(at + number.length))) at += number.length;
  else skip(bullet);
  return at;
}

function closes(line: string, mark: string): boolean {
  const [, other = '', info] = fence.exec(line) ?? [];
  return other.startsWith(mark) && info === '';
}

/** The lines without their ends; every kind of line end counts. */
function linesOf(text: string): Span[] {
  const lines: Span[] = [];
  let start = 0;
  for (const { index, 0: end } of text.matchAll(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/g)) {
    lines.push([start, index]);
    start = index + end.length;
  }
  lines.push([start, text.length]);
  return lines;
}

/** A passage without the blanks around it; none, if it has neither letter nor number: rules, underlines, dots. */
function trimmed(text: string, start: number, end: number): Span[] {
  const part = text.slice(start, end);
  const inner = part.trim();
  if (!/[\p{L}\p{N}]/u.test(inner)) return [];
  const from = start + part.indexOf(inner);
  return [[from, from + inner.length]];
}
