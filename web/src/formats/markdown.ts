// Markdown: blocks are found line by line, as CommonMark and GitHub do; only their words go to the translator.
import type { DocumentOptions, DocumentTranslator, Line } from './document.js';
import { inPortions, linesOf } from './document.js';
import { frontMatterOf } from './front-matter.js';
import type { Container, Cursor } from './markdown-containers.js';
import { continueContainers, indentationAt, openContainers, rule } from './markdown-containers.js';
import { htmlTag, normalLabel } from './markdown-inline.js';
import type { Job, Setting } from './markdown-text.js';
import { inlineJob, plainJob } from './markdown-text.js';
import type { Row } from './markdown-table.js';
import { isTableHead, rowOf, writeTable } from './markdown-table.js';

/** A part of the document: text for the translator, a table with such texts, or what stays. */
type Part = Job | Row[] | string;

// Divides jobs in what is sent; no text can hold it, since text is encoded.
const divider = '<hr class="octavo">';

/** Translates Markdown. */
export async function translateMarkdown(
  translator: DocumentTranslator,
  text: string,
  options: DocumentOptions,
): Promise<string> {
  const parts = partsOf(text);
  const jobs = parts
    .flatMap((part) => (Array.isArray(part) ? part.flatMap((row) => row.parts) : [part]))
    .filter((part) => typeof part !== 'string');
  const results = new Map<Job, string>();
  const { signal } = options;
  const work = async (portion: readonly Job[]) => {
    const own = portion.map((job) => ({ job, ...job.prepare() })).filter(({ html }) => /\p{L}/u.test(html));
    const one = async ({ job, html, write }: (typeof own)[number]) => {
      results.set(job, write(await translator.translateHTML(html, { signal })));
    };
    const together = own.filter(({ alone }) => !alone);
    const source = together.map(({ html }) => html).join(divider);
    const translated = (await translator.translateHTML(source, { signal })).split(divider);
    if (translated.length !== Math.max(1, together.length)) for (const text of together) await one(text);
    else together.forEach(({ job, write }, i) => results.set(job, write(translated[i] ?? '')));
    for (const text of own) if (text.alone) await one(text);
  };
  await inPortions(jobs, ({ raw }) => raw.length, work, options);
  const resultOf = (part: Job | string) =>
    typeof part === 'string' ? part : (results.get(part) ?? part.raw);
  return parts
    .map((part) => {
      if (!Array.isArray(part)) return resultOf(part);
      return writeTable(
        part,
        part.map((row) => row.parts.map(resultOf).join('')),
      );
    })
    .join('');
}

const fence = /^(`{3,})[^`]*$|^(~{3,})/;
const heading = /^(#{1,6}[ \t]+)(?![ \t])(.*?)(?<![ \t])((?:[ \t]+#+)?(?:[ \t]*\{[#.:][^{}]*\})?[ \t]*)$/;
const emptyHeading = /^#{1,6}[ \t]*(?:#+[ \t]*)?$/;
const underline = /^(?:=+|-+)[ \t]*$/;
const definition = /^\[(?!\^)(?:\\.|[^\]\\])+\]:[ \t]*(?:<[^<>]*>|\S+|$)(?:([ \t]+["'(])(.*)(["')]))?[ \t]*$/;
const definitions = /^[ \t>]*\[(?!\^)((?:\\.|[^[\]\\])+)\]:\s*\S/gm;
// Directives, tables of contents, kinds of quotations.
const directive = /^(?:\[!\w+\][-+]?|\[{1,2}_?TOC_?\]{1,2}|:{3,}.*|\{[%:].*\})[ \t]*$/;
const blockTag =
  /^<\/?(?:address|article|aside|base(?:font)?|blockquote|body|caption|center|col(?:group)?|d[dlt]|details|dialog|dir|div|fieldset|fig(?:caption|ure)|footer|form|frame(?:set)?|h[1-6r]|head(?:er)?|html|iframe|legend|li(?:nk)?|main|menu(?:item)?|nav|noframes|[ou]l|opt(?:group|ion)|p(?:aram|icture)?|search|section|summary|t(?:able|body|d|foot|h|head|itle|r|rack))(?:[\s>]|\/>|$)/i;
/** What begins a block of HTML without text for people, and what ends it. */
const silentBlocks: readonly (readonly [start: RegExp, end: RegExp])[] = [
  [/^<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [/^<![A-Za-z]/, />/],
];
const blank = /^\s*$/;

/** How a block of HTML ends that a line begins, and whether it may have text; undefined if it begins none. */
function htmlBlockOf(line: string, inParagraph: boolean): { end: RegExp; words: boolean } | undefined {
  const silent = silentBlocks.find(([start]) => start.test(line));
  if (silent) return { end: silent[1], words: false };
  htmlTag.lastIndex = 0;
  const isTag = blockTag.test(line) || (!inParagraph && htmlTag.exec(line)?.[0] === line.trimEnd());
  return isTag ? { end: blank, words: true } : undefined;
}

/** A line inside its containers. */
interface Inner extends Line {
  prefix: string;
}

/** A block that goes on over lines. */
type Open =
  | { kind: 'paragraph'; lines: Inner[] }
  | { kind: 'html'; lines: Inner[]; end: RegExp; words: boolean }
  | { kind: 'fence'; close: RegExp }
  | { kind: 'table'; rows: Row[] };

/** Takes a document apart; the parts, put together, are the document again. */
function partsOf(text: string): Part[] {
  const front = frontMatterOf(text);
  const parts: Part[] = [...front.parts];
  const lines = linesOf(text.slice(front.length));
  const labels = new Set(Array.from(text.matchAll(definitions), (match) => normalLabel(match[1] ?? '')));
  let containers: Container[] = [];
  let open: Open | undefined;

  const setting = (lines: readonly Inner[], cell = false): Setting => {
    const [first, second] = lines;
    const prefix = second?.prefix ?? (first?.prefix ?? '').replace(/[^>\s]/g, ' ');
    return { prefix, lineEnd: first?.end ?? '\n', cell, definitions: labels };
  };

  const close = () => {
    if (open?.kind === 'paragraph') parts.push(...paragraphParts(open.lines, setting(open.lines)));
    if (open?.kind === 'html') parts.push(...htmlParts(open.lines, open.words));
    open = undefined;
  };

  lines.forEach((line, index) => {
    const cursor: Cursor = { line: line.text, at: 0, column: 0 };
    const matched = continueContainers(cursor, containers);
    const isInside = matched === containers.length;
    if (open?.kind === 'fence' && isInside) {
      parts.push(line.text + line.end);
      if (open.close.test(line.text.slice(cursor.at))) open = undefined;
      return;
    }
    if (open?.kind === 'html' && isInside) {
      const rest = line.text.slice(cursor.at);
      const isEnd = open.end.test(rest);
      if (!isEnd || rest.trim()) open.lines.push(innerOf(line, cursor.at));
      if (isEnd) close();
      if (isEnd && !rest.trim()) parts.push(line.text + line.end);
      return;
    }
    const inParagraph = open?.kind === 'paragraph' && isInside;
    const added = openContainers(cursor, inParagraph);
    const rest = line.text.slice(cursor.at).trimStart();
    const prefix = line.text.slice(0, line.text.length - rest.length);
    const inner: Inner = { text: rest, end: line.end, prefix };
    const isIndented = indentationAt(cursor) >= 4;

    // A paragraph goes on even where its quotation or list does not.
    if (open?.kind === 'paragraph' && !isInside && !added.length && isProse(rest) && !rule.test(rest)) {
      open.lines.push(inner);
      return;
    }
    if (!isInside || added.length) {
      close();
      containers = [...containers.slice(0, matched), ...added];
    }
    if (!rest) {
      close();
      parts.push(line.text + line.end);
    } else if (isIndented && open?.kind !== 'paragraph') {
      close();
      parts.push(line.text + line.end);
    } else if (open?.kind === 'table' && rest.includes('|')) {
      open.rows.push(rowOf(inner, setting([inner], true)));
    } else if (!isIndented && open?.kind === 'paragraph' && underline.test(rest)) {
      close();
      parts.push(line.text + line.end);
    } else if (isTableHead(rest, lines[index + 1]?.text)) {
      close();
      const rows = [rowOf(inner, setting([inner], true))];
      parts.push(rows);
      open = { kind: 'table', rows };
    } else {
      block(inner, isIndented);
    }
  });
  close();
  return parts;

  /** A line that begins a block, or goes on with a paragraph. */
  function block(inner: Inner, isIndented: boolean) {
    const { text: rest, end, prefix } = inner;
    const html = htmlBlockOf(rest, open?.kind === 'paragraph');
    const title = heading.exec(rest);
    const defined = open?.kind === 'paragraph' ? null : definition.exec(rest);
    if (isIndented || (isProse(rest) && !html && !defined)) {
      if (open?.kind !== 'paragraph') {
        close();
        open = { kind: 'paragraph', lines: [] };
      }
      open.lines.push(inner);
      return;
    }
    close();
    if (html) {
      open = { kind: 'html', lines: [inner], ...html };
      if (html.end.test(rest)) close();
    } else if (defined) {
      parts.push(prefix, ...definitionParts(rest, defined), end);
      // Its target may be in the next line.
      if (/:\s*$/.test(rest)) open = { kind: 'fence', close: /^/ };
    } else if (title?.[2]) {
      parts.push(
        prefix,
        title[1] ?? '',
        inlineJob(title[2], title[2], setting([inner])),
        title[3] ?? '',
        end,
      );
    } else {
      parts.push(prefix + rest + end);
      const mark = fence.exec(rest);
      const sign = mark?.[1] ?? mark?.[2];
      if (sign)
        open = {
          kind: 'fence',
          close: new RegExp(`^[ \\t]*${sign.charAt(0)}{${String(sign.length)},}[ \\t]*$`),
        };
      if (/^\$\$[ \t]*$/.test(rest)) open = { kind: 'fence', close: /^[ \t]*\$\$[ \t]*$/ };
    }
  }
}

/** Whether a line, without its prefix, is only text. */
const isProse = (rest: string) =>
  !fence.test(rest) &&
  !heading.test(rest) &&
  !emptyHeading.test(rest) &&
  !rule.test(rest) &&
  !directive.test(rest) &&
  !/^\$\$[ \t]*$/.test(rest) &&
  /\S/.test(rest) &&
  !htmlBlockOf(rest, true);

const innerOf = (line: Line, at: number): Inner => ({
  text: line.text.slice(at),
  end: line.end,
  prefix: line.text.slice(0, at),
});

function paragraphParts(lines: readonly Inner[], setting: Setting): Part[] {
  const last = lines.at(-1);
  const source = lines.map(({ text }) => text).join('\n');
  const tail = /(?<![ \t])[ \t]*$/.exec(source)?.[0] ?? '';
  const raw = lines
    .map(({ prefix, text }, i) => (i ? (lines[i - 1]?.end ?? '') + prefix : '') + text)
    .join('');
  const content = source.slice(0, source.length - tail.length);
  const job = inlineJob(raw.slice(0, raw.length - tail.length), content, setting);
  return [lines[0]?.prefix ?? '', job, tail + (last?.end ?? '')];
}

function htmlParts(lines: readonly Inner[], words: boolean): Part[] {
  const raw = lines.map(({ prefix, text, end }) => prefix + text + end).join('');
  if (!words) return [raw];
  const [first] = lines;
  const html = lines.map(({ text }) => text).join('\n');
  const prefix = lines[1]?.prefix ?? (first?.prefix ?? '').replace(/[^>\s]/g, ' ');
  const end = lines.at(-1)?.end ?? '';
  const write = (result: string) =>
    (first?.prefix ?? '') + result.split('\n').join((first?.end ?? '\n') + prefix) + end;
  const job = { html, write: (result: string) => (result === html ? raw : write(result)), alone: true };
  return [{ raw, prepare: () => job }];
}

function definitionParts(rest: string, [, opening, title, closing]: RegExpExecArray): Part[] {
  if (!opening || !title || !closing) return [rest];
  const start = rest.lastIndexOf(title, rest.lastIndexOf(closing) - 1);
  const write = (text: string) => text.replace(/\\/g, '\\\\').replaceAll(closing, `\\${closing}`);
  const source = title.replace(/\\([!-/:-@[-`{-~])/g, '$1');
  return [rest.slice(0, start), plainJob(title, source, write), rest.slice(start + title.length)];
}
