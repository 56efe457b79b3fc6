// The lines of a text: what of them is layout or Markdown, and what is prose.
import { beginsWithMonth } from './abbreviations.js';
import type { Span } from './edits.js';

const indent = /^[ \t\u00a0\u3000]*/;
const quoteMarks = /^(?:>[ \t]?)+[ \t]*/;
const heading = /^#{1,6}[ \t]+/;
const bullet = /^(?:[-*+•‣◦⁃∙·–—▪▫●○■□►▸✓✔✗✘☐☑☒][ \t]+)(?:\[[ xX]\][ \t]+)?/u;
const numbering = /^(?:\(?\d{1,3}[.)]|\(?[a-zA-Z]\)|\([ivxIVX]{1,4}\)|[ivx]{1,4}\))[ \t]+/;
const fence = /^[ \t]*(?:>[ \t]?)*[ \t]*(`{3,}|~{3,})/;
const frontMatter = /^---[ \t]*\r?\n(?=[\w"'-]+[ \t]*:)(?:[^\n]*\n)*?---[ \t]*(?:\r?\n|$)/;
const tableCell = /(?:\\.|`[^`]*`|[^|\\`]|[\\`])+/g;
// Tabs and wide gaps are columns.
const columns = /(?:[ ]*\t[ \t]*|[ ]{3,})/;

/**
 * The passages of a text that hold prose, in order; what lies between them is layout that has to stay as it is.
 * A passage is at most a paragraph. It has line breaks inside only where a sentence was wrapped.
 */
export function proseOf(text: string, markdown = true): Span[] {
  const passages: Span[] = [];
  const lines = linesOf(text);
  let skipTo = markdown ? (frontMatter.exec(text)?.[0].length ?? 0) : 0;
  let open: { mark: string; at: number } | undefined;
  for (const [index, [start, end]] of lines.entries()) {
    if (start < skipTo) continue;
    const line = text.slice(start, end);
    const mark = markdown ? fence.exec(line)?.[1] : undefined;
    if (mark) {
      const close = lines.slice(index + 1).find(([from, to]) => closes(text.slice(from, to), mark));
      // A fence that is never closed is only a strange line: the text after it is to be translated.
      if (close) skipTo = close[1];
      open = undefined;
      continue;
    }
    const at = prefixLength(line, markdown);
    if (markdown && line.startsWith('|', at)) {
      for (const cell of line.slice(at).matchAll(tableCell)) {
        addTrimmed(passages, text, start + at + cell.index, start + at + cell.index + cell[0].length);
      }
      open = undefined;
      continue;
    }
    const body = text.slice(start + at, end);
    const last = passages.at(-1);
    const layout = line.slice(0, at).replace(/[^>]/g, '');
    if (
      last &&
      open?.at === last[1] &&
      open.mark === layout &&
      continues(text.slice(...last), line.slice(0, at), body)
    ) {
      last[1] = end - (/\s*$/.exec(body)?.[0].length ?? 0);
    } else {
      let from = start + at;
      for (const part of body.split(columns)) {
        from = text.indexOf(part, from);
        addTrimmed(passages, text, from, from + part.length);
        from += part.length;
      }
    }
    const now = passages.at(-1);
    open = now && now[1] > start ? { mark: layout, at: now[1] } : undefined;
  }
  return passages;
}

/** Whether a line goes on with the sentence that the line before it, a long one, has left open. */
function continues(before: string, prefix: string, body: string): boolean {
  const line = before.slice(before.lastIndexOf('\n') + 1);
  return (
    line.length >= 40 &&
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
  const other = fence.exec(line)?.[1];
  return other?.[0] === mark[0] && (other?.length ?? 0) >= mark.length && /[`~][ \t]*\r?$/.test(line);
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

function addTrimmed(passages: Span[], text: string, start: number, end: number) {
  const part = text.slice(start, end);
  const trimmed = part.trim();
  // What has neither letter nor number nor picture is layout: rules, underlines, dots.
  if (!/[\p{L}\p{N}]/u.test(trimmed)) return;
  const from = start + part.indexOf(trimmed);
  passages.push([from, from + trimmed.length]);
}
