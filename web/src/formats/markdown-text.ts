// Running text of Markdown on its way through the translator: as HTML, whose tags stand for the markup, and back.
import type { Inline, Mark } from './markdown-inline.js';
import { htmlTag, parseInline } from './markdown-inline.js';
import type { Atom } from './markdown-lines.js';
import { isBreak, linesOfAtoms } from './markdown-lines.js';

/** Text for the translator, as the document has it to the letter. It is read only when its turn comes. */
export interface Job {
  raw: string;
  prepare: () => Prepared;
}

/** Text as HTML for the translator. */
export interface Prepared {
  html: string;
  /** Writes the translated HTML in the way of the document. */
  write: (html: string) => string;
  /** Whether its own HTML might reach into that of others. */
  alone: boolean;
}

/** How running text stands in the document. */
export interface Setting {
  /** What begins each of its lines but the first. */
  prefix: string;
  /** What ends them. */
  lineEnd: string;
  /** Whether it is a cell of a table. */
  cell?: boolean;
  definitions: ReadonlySet<string>;
}

/** A job for running text, whose lines are divided by \n and have no prefixes. */
export const inlineJob = (raw: string, source: string, setting: Setting): Job => ({
  raw,
  prepare: () => prepareInline(raw, source, setting),
});

function prepareInline(raw: string, source: string, setting: Setting): Prepared {
  const tokens = withWholeObjects(parseInline(source, setting.definitions), setting);
  const sent = toHTML(tokens);
  const isOwnTag = /<\/?oct-\d|id="oct-\d/.test(source);
  return {
    html: isOwnTag ? '' : sent,
    write: (html) => {
      if (html === sent) return raw;
      const result = trimmed(fromHTML(html, tokens));
      for (const strict of [false, true]) {
        const wanted = strict ? result.map(asElement) : result;
        const written = write(wanted, setting, strict);
        // Only what reads as it was meant is written.
        const text = written.map((atom) => (isBreak(atom) ? `${atom.text}\n` : atom.text)).join('');
        const reread = withWholeObjects(parseInline(text, setting.definitions), setting);
        if (meaning(reread) === meaning(wanted))
          return linesOfAtoms(written, source).join(setting.lineEnd + setting.prefix);
      }
      return raw;
    },
    alone: tokens.some((token) => token.kind === 'html' && token.raw.startsWith('<')),
  };
}

/** Joins what is to be kept with the markup around it, such as that of a link whose text is code. */
function withWholeObjects(tokens: readonly Inline[], setting: Setting): Inline[] {
  const result: Inline[] = [];
  // Where the elements around begin, and whether there is something else in them than objects.
  const open: { at: number; other?: boolean }[] = [];
  for (const token of tokens) {
    if (token.kind === 'open') open.push({ at: result.length });
    const element = token.kind === 'close' ? open.pop() : undefined;
    result.push(token);
    if (element && !element.other) {
      const raw = write(result.splice(element.at), setting, false).map(({ text }) => text);
      result.push({ kind: 'object', raw: raw.join('') });
    } else if (token.kind !== 'open' && token.kind !== 'object') {
      const outer = open.at(-1);
      if (outer) outer.other = true;
    }
  }
  return result;
}

/** A job for text without markup. */
export const plainJob = (raw: string, source: string, write: (text: string) => string): Job => ({
  raw,
  prepare: () => ({
    html: encoded(source),
    write: (html) => (html === encoded(source) ? raw : write(decoded(html).replace(/\s+/g, ' '))),
    alone: false,
  }),
});

const encoded = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

const references: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
};
const decoded = (html: string) =>
  html.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (text) => references[text] ?? text);

/** Each part that is markup becomes a tag with its number. */
function toHTML(tokens: readonly Inline[]): string {
  const numbers = new Map<Mark, number>();
  const attributeOf = (name: string, value: string) => ` ${name}="${encoded(value).replace(/"/g, '&quot;')}"`;
  return tokens
    .map((token, i) => {
      const name = `oct-${String(i)}`;
      switch (token.kind) {
        case 'text':
          return encoded(token.text);
        case 'html':
          return token.raw;
        case 'newline':
          return token.hard ? `<br id="${name}">` : '\n';
        case 'object':
          return `<${name} translate="no"></${name}>`;
        case 'point':
          return `<img id="${name}">`;
        case 'image':
          return `<img id="${name}"${attributeOf('alt', token.alt)}${titleOf(token.mark)}>`;
        case 'open':
          numbers.set(token.mark, i);
          return `<${name}${titleOf(token.mark)}>`;
        case 'close':
          return `</oct-${String(numbers.get(token.mark))}>`;
      }
    })
    .join('');

  function titleOf({ title }: Mark) {
    return title ? attributeOf('title', title) : '';
  }
}

const textPart = /&[#\w]+;|[^<&\n]+|[^]/y;

/** Reads HTML that was made of the given tokens. */
function fromHTML(html: string, tokens: readonly Inline[]): Inline[] {
  const result: Inline[] = [];
  const opened = new Map<string, Mark>();
  for (let at = 0; at < html.length;) {
    htmlTag.lastIndex = at;
    const [tag] = htmlTag.exec(html) ?? [];
    textPart.lastIndex = at;
    const text = tag ?? textPart.exec(html)?.[0] ?? '';
    at += text.length;
    if (!tag) {
      if (text === '\n') result.push({ kind: 'newline', hard: '' });
      else if (!text.startsWith('&') || text === '&' || text in references)
        result.push({ kind: 'text', text: decoded(text) });
      else result.push({ kind: 'html', raw: text });
      continue;
    }
    const number = /^<\/?oct-(\d+)|^<\w+ id="oct-(\d+)"/.exec(tag);
    const name = number?.[1] ?? number?.[2] ?? '';
    const token = tokens[name ? Number(name) : -1];
    const attribute = (key: string) => {
      const value = new RegExp(` ${key}="([^"]*)"`).exec(tag)?.[1];
      return value === undefined ? {} : { [key]: decoded(value) };
    };
    if (!token) result.push({ kind: 'html', raw: tag });
    else if (token.kind === 'image') {
      result.push({ ...token, ...attribute('alt'), mark: { ...token.mark, ...attribute('title') } });
    } else if (token.kind !== 'open') {
      if (!tag.startsWith('</')) result.push(token);
    } else if (tag.startsWith('</')) {
      result.push({ kind: 'close', mark: opened.get(name) ?? token.mark });
    } else {
      const mark = { ...token.mark, ...attribute('title') };
      opened.set(name, mark);
      result.push({ kind: 'open', mark });
    }
  }
  return result;
}

/** Without blanks at the edges of lines, or inside the edges of emphasis, where they would undo it. */
function trimmed(tokens: readonly Inline[]): Inline[] {
  const result = tokens.map((token) => ({ ...token }));
  result.forEach((token, i) => {
    if (token.kind !== 'text') return;
    if (result[i - 1]?.kind === 'newline') token.text = token.text.trimStart();
    if (result[i + 1]?.kind === 'newline') token.text = token.text.trimEnd();
  });
  const move = (from: number, to: number) => {
    const [source, place] = [result[from], result[to]];
    if (source?.kind !== 'text') return;
    const { text } = source;
    const words = from < to ? text.trimEnd() : text.trimStart();
    const gap = from < to ? text.slice(words.length) : text.slice(0, text.length - words.length);
    source.text = words;
    if (!gap || !place) return;
    if (place.kind === 'text') place.text = from < to ? gap + place.text : place.text + gap;
    else result.splice(from < to ? to : to + 1, 0, { kind: 'text', text: gap });
  };
  for (let i = 0; i < result.length; ++i) {
    const token = result[i];
    if (token?.kind === 'open' && token.mark.element) move(i + 1, i - 1);
    if (token?.kind === 'close' && token.mark.element) move(i - 1, i + 1);
  }
  move(0, -1);
  move(result.length - 1, result.length);
  return result;
}

/** Emphasis as an element of HTML, which stands anywhere. */
function asElement(token: Inline): Inline {
  if ((token.kind !== 'open' && token.kind !== 'close') || !token.mark.element) return token;
  return { kind: 'html', raw: `<${token.kind === 'open' ? '' : '/'}${token.mark.element}>` };
}

function write(tokens: readonly Inline[], { cell = false, definitions }: Setting, strict: boolean): Atom[] {
  const atoms: Atom[] = [];
  const open: number[] = [];
  tokens.forEach((token, i) => {
    const add = (text: string) =>
      atoms.push({ kind: 'fixed', text: cell ? text.replace(/(?<!\\)\|/g, '\\|') : text });
    switch (token.kind) {
      case 'text': {
        const text = escaped(token.text, cell, strict, definitions);
        const next = tokens[i + 1];
        const bang = next?.kind === 'open' && next.mark.open === '[' && text.endsWith('!');
        atoms.push({ kind: 'text', text: bang ? `${text.slice(0, -1)}\\!` : text });
        break;
      }
      case 'newline':
        // A cell has only one line.
        if (cell) atoms.push({ kind: 'text', text: ' ' });
        else atoms.push({ kind: token.hard ? 'hard' : 'soft', text: token.hard });
        break;
      case 'image':
        add(`![${token.alt.replace(/[[\]\\]/g, '\\$&')}${closing(token.mark, '')}`);
        break;
      case 'open':
        open.push(atoms.length);
        add(token.mark.open);
        break;
      case 'close': {
        const from = (open.pop() ?? 0) + 1;
        const inner = () => atoms.slice(from).map(({ text }) => text);
        add(token.mark.element ? token.mark.close : closing(token.mark, inner().join('')));
        break;
      }
      default:
        add(token.raw);
    }
  });
  return atoms;
}

/** The end of a link with its target. */
function closing({ close, title, end = '', label }: Mark, content: string): string {
  if (label !== undefined && label !== content) return `][${label}]`;
  if (title === undefined) return close;
  const quote = end.charAt(0);
  return close + title.replace(/\\/g, '\\\\').replaceAll(quote, `\\${quote}`) + end;
}

/** Escapes what would be read as markup. */
function escaped(text: string, cell: boolean, strict: boolean, definitions: ReadonlySet<string>): string {
  if (strict) return text.replace(/[\\`*_~[\]<&$|!]/g, '\\$&');
  const safe = text
    .replace(/\\(?=[!-/:-@[-`{-~]|$)/g, '\\\\')
    .replace(/`/g, '\\`')
    .replace(/(?<=^|\S)\*|\*(?=\S|$)/g, '\\*')
    .replace(/(?<![\p{L}\p{N}]|\s)_|_(?![\p{L}\p{N}]|\s)|(?<=\s)_(?=\S)|(?<=\S)_(?=\s)/gu, '\\_')
    .replace(/~(?=~)/g, '\\~')
    .replace(/<(?=[A-Za-z/!?])/g, '\\<')
    .replace(/&(?=#?\w+;)/g, '\\&')
    .replace(/\[(?=([^[\]]*)\]([([:]?))/g, (sign, label: string, after: string) =>
      after || label.startsWith('^') || definitions.has(label.trim().toLowerCase()) ? '\\[' : sign,
    );
  return cell ? safe.replace(/\|/g, '\\|') : safe;
}

/** What tokens mean, for comparison: blanks and the way of writing left out. */
function meaning(tokens: readonly Inline[]): string {
  return tokens
    .map((token) => {
      switch (token.kind) {
        case 'text':
          return token.text;
        case 'newline':
          return token.hard ? '<br>' : ' ';
        case 'open':
          return `\u0001${token.mark.element ?? 'link'}\u0002`;
        case 'close':
          return `\u0003${token.mark.element ?? token.mark.title ?? ''}\u0004`;
        case 'image':
          return `\u0005${token.alt}\u0006`;
        default:
          return `\u0007${token.raw.replace(/\\\|/g, '|')}`;
      }
    })
    .join('')
    .replace(/\s+/g, ' ')
    .trim();
}
