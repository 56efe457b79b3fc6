// The inline markup of Markdown, read as CommonMark and GitHub do.
import { lastIndex } from './document.js';

/** Markup around words: emphasis or a link. */
export interface Mark {
  open: string;
  close: string;
  /** The element that means the same; none for a link. */
  element?: 'em' | 'strong' | 'del';
  /** A link's title; `close` then ends before it and `end` comes after it. */
  title?: string;
  end?: string;
  /** The label of `[label]` or `[label][]`, which has to be written out once the words in the brackets change. */
  label?: string;
}

/** A part of running text. */
export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'open' | 'close'; mark: Mark }
  /** Like a word, but not to be touched: code, formulas, addresses. */
  | { kind: 'object'; raw: string }
  /** Between words: a footnote's number. */
  | { kind: 'point'; raw: string }
  | { kind: 'image'; alt: string; mark: Mark }
  /** HTML as it is written: tags, comments, character references. */
  | { kind: 'html'; raw: string }
  /** The end of a line; `hard` is what makes it a break. */
  | { kind: 'newline'; hard: string };

/** A run of `*`, `_` or `~` of which it is not yet known what it means. */
interface Run {
  kind: 'run';
  sign: string;
  length: number;
  canOpen: boolean;
  canClose: boolean;
  opens: Inline[];
  closes: Inline[];
}

/** A bracket that may begin a link or an image. */
interface Bracket {
  kind: 'bracket';
  sign: string;
  /** Where its content begins in the source. */
  at: number;
}

type Item = Inline | Run | Bracket;

const attribute = String.raw`\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>${'`'}]+|'[^']*'|"[^"]*"))?`;
/** A tag or comment of HTML. */
export const htmlTag = new RegExp(
  String.raw`<[A-Za-z][A-Za-z0-9-]*(?:${attribute})*\s*/?>|</[A-Za-z][A-Za-z0-9-]*\s*>|<!--[^]*?-->`,
  'y',
);
const autolink = /<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.!#$%&'*+/=?^`{|}~-]+@[\w.-]+)>/y;
const address = /(?:https?:\/\/|www\.)[^\s<>[\]`*|]*[^\s<>[\]`*|.,:;!?'"()_~]/y;
const formula = /\$\$?(?=[^\s$])(?=[^$\n]*[\\^_={}])[^$\n]*[^\s$]\$\$?(?!\d)/y;
const reference = /&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});/y;
const footnote = /\[\^[^[\]\s]+\](?!:)/y;
const title = String.raw`"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|\((?:\\[^]|[^()\\])*\)`;
const targetPart = String.raw`(?:\\[^]|[^\s()\\]|\((?:\\[^]|[^\s()\\]|\([^\s()]*\))*\))`;
const target = String.raw`<[^<>\n]*>|(?!<)${targetPart}+`;
const attributes = String.raw`(?:\{:?[ ]*[.#\w][^{}\n]*\})?`;
const inlineTail = new RegExp(
  String.raw`(\(\s*(?!\s)(?:${target})?)(?:(\s+)(${title}))?(\s*\)${attributes})`,
  'y',
);
const labelTail = /\[((?:\\.|[^[\]\\])*)\]/y;
const plain = /[^\\`$<&!*_~\n[\] hw]+/y;
const punctuation = /[\p{P}\p{S}]/u;

/** How labels are compared. */
export const normalLabel = (label: string): string => label.trim().replace(/\s+/g, ' ').toLowerCase();

/** Reads running text. `definitions` are the labels, normalised, that links may refer to. */
export function parseInline(source: string, definitions: ReadonlySet<string>): Inline[] {
  const items: Item[] = [];
  const brackets: number[] = []; // their places among the items
  let linked = 0; // how many of them, from the first, have a link inside
  const lastComment = source.lastIndexOf('-->');
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  const add = (item: Item, length: number) => {
    items.push(item);
    at += length;
  };
  const raw = (pattern: RegExp, kind: 'object' | 'point' | 'html') => {
    const [text] = take(pattern) ?? [];
    if (text) add({ kind, raw: text.replace(/\s*\n\s*/g, ' ') }, text.length);
    return text !== undefined;
  };

  while (at < source.length) {
    const sign = source.charAt(at);
    if (sign === '\n' || sign === ' ') {
      const [gap = ''] = take(/ *\n? */y) ?? [];
      if (gap.includes('\n')) add({ kind: 'newline', hard: /^ {2,}/.exec(gap)?.[0] ?? '' }, gap.length);
      else add({ kind: 'text', text: gap }, gap.length);
    } else if (sign === '\\') {
      const next = source.charAt(at + 1);
      if (next === '\n') add({ kind: 'newline', hard: '\\' }, 2 + (take(/\\\n( *)/y)?.[1]?.length ?? 0));
      else if (/[!-/:-@[-`{-~]/.test(next)) add({ kind: 'text', text: next }, 2);
      else add({ kind: 'text', text: sign }, 1);
    } else if (sign === '`') {
      if (!raw(/(`+)(?!`)[^]*?(?<!`)\1(?!`)/y, 'object')) {
        const [text = sign] = take(/`+/y) ?? [];
        add({ kind: 'text', text }, text.length);
      }
    } else if (sign === '*' || sign === '_' || sign === '~') {
      const run = runAt(source, at);
      add(run, run.length);
    } else if (sign === ']') {
      at = closeBracket(at);
    } else if (sign === '[' || (sign === '!' && source[at + 1] === '[')) {
      if (sign === '[' && raw(footnote, 'point')) continue;
      const text = sign === '[' ? '[' : '![';
      brackets.push(items.length);
      add({ kind: 'bracket', sign: text, at: at + text.length }, text.length);
    } else if (
      !(
        sign === '<' &&
        (raw(autolink, 'object') || ((source[at + 1] !== '!' || at < lastComment) && raw(htmlTag, 'html')))
      ) &&
      !(sign === '&' && raw(reference, 'html')) &&
      !(sign === '$' && raw(formula, 'object')) &&
      !((sign === 'h' || sign === 'w') && !/\w/.test(source.charAt(at - 1)) && raw(address, 'object'))
    ) {
      const [text = sign] = take(plain) ?? [];
      add({ kind: 'text', text }, text.length);
    }
  }
  return merged(resolved(items));

  /** Makes a link or an image of what stands before a closing bracket, if it is one; returns where to go on. */
  function closeBracket(end: number): number {
    const index = brackets.pop() ?? -1;
    const bracket = items[index];
    if (bracket?.kind !== 'bracket') {
      items.push({ kind: 'text', text: ']' });
      return end + 1;
    }
    // There is no link inside a link.
    const isOuter = brackets.length < linked;
    linked = Math.min(linked, brackets.length);
    const tail = isOuter && bracket.sign === '[' ? undefined : tailOf(bracket.at, end);
    if (!tail) {
      items[index] = { kind: 'text', text: bracket.sign };
      items.push({ kind: 'text', text: ']' });
      return end + 1;
    }
    const mark: Mark = { open: bracket.sign, ...tail.mark };
    const inner = items.splice(index).slice(1);
    if (bracket.sign === '![') {
      items.push({ kind: 'image', alt: unescaped(source.slice(bracket.at, end)), mark });
    } else {
      items.push({ kind: 'open', mark });
      for (const item of resolved(inner)) items.push(item);
      items.push({ kind: 'close', mark });
      linked = brackets.length;
    }
    return tail.end;
  }

  /** What follows the text of a link: its target, or the label of one. */
  function tailOf(start: number, end: number): { mark: Omit<Mark, 'open'>; end: number } | undefined {
    at = end + 1;
    const inline = take(inlineTail);
    if (inline) {
      const [text, before = '', gap = '', quoted, after = ''] = inline;
      if (!quoted) return { mark: { close: `]${text}` }, end: at + text.length };
      const mark = {
        close: `]${before}${gap}${quoted.charAt(0)}`,
        title: unescaped(quoted.slice(1, -1)),
        end: quoted.slice(-1) + after,
      };
      return { mark, end: at + text.length };
    }
    const [text = '', label = ''] = take(labelTail) ?? [];
    if (label && definitions.has(normalLabel(label)))
      return { mark: { close: `]${text}` }, end: at + text.length };
    const own = source.slice(start, end);
    if (own.length > 999 || !definitions.has(normalLabel(own))) return undefined;
    const suffix = label ? '' : text;
    return { mark: { close: `]${suffix}`, label: own }, end: at + suffix.length };
  }
}

const unescaped = (text: string) => text.replace(/\\([!-/:-@[-`{-~])/g, '$1').replace(/\s*\n\s*/g, ' ');

/** A run of emphasis signs with what it may do by its neighbours. */
function runAt(source: string, at: number): Run {
  const sign = source.charAt(at);
  let end = at;
  while (source[end] === sign) ++end;
  const before = Array.from(source.slice(Math.max(0, at - 2), at)).at(-1) ?? ' ';
  const after = String.fromCodePoint(source.codePointAt(end) ?? 32);
  const left =
    !/\s/.test(after) && (!punctuation.test(after) || /\s/.test(before) || punctuation.test(before));
  const right =
    !/\s/.test(before) && (!punctuation.test(before) || /\s/.test(after) || punctuation.test(after));
  const word = sign === '_';
  const usable = sign !== '~' || end - at === 2; // a single one is rarely meant
  return {
    kind: 'run',
    sign,
    length: end - at,
    canOpen: usable && left && (!word || !right || punctuation.test(before)),
    canClose: usable && right && (!word || !left || punctuation.test(after)),
    opens: [],
    closes: [],
  };
}

/** Pairs the runs of emphasis signs, and turns everything that belongs to nothing into text. */
function resolved(items: readonly Item[]): Inline[] {
  const runs = items.filter((item) => item.kind === 'run');
  const full = new Map(runs.map((run) => [run, run.length]));
  const open: Run[] = [];
  for (const closer of runs) {
    while (closer.canClose && closer.length > 0) {
      const index = lastIndex(open, (opener) => matches(opener, closer, full));
      const opener = open[index];
      if (!opener) break;
      open.length = index + 1;
      const count = opener.length >= 2 && closer.length >= 2 ? 2 : 1;
      const text = closer.sign.repeat(count);
      const element = closer.sign === '~' ? 'del' : count === 2 ? 'strong' : 'em';
      const mark: Mark = { open: text, close: text, element };
      opener.opens.push({ kind: 'open', mark });
      closer.closes.push({ kind: 'close', mark });
      opener.length -= count;
      closer.length -= count;
      if (opener.length === 0) open.pop();
    }
    if (closer.canOpen && closer.length > 0) open.push(closer);
    if (open.length > 99) open.shift(); // it would be looked at by each that follows
  }
  return items.flatMap((item): Inline[] => {
    if (item.kind === 'bracket') return [{ kind: 'text', text: item.sign }];
    if (item.kind !== 'run') return [item];
    return [...item.closes, { kind: 'text', text: item.sign.repeat(item.length) }, ...item.opens.reverse()];
  });
}

/** Whether a run can end what another began, by CommonMark's rule of three. */
function matches(opener: Run, closer: Run, full: ReadonlyMap<Run, number>): boolean {
  if (opener.sign !== closer.sign) return false;
  if (!opener.canClose && !closer.canOpen) return true;
  const [a, b] = [full.get(opener) ?? 0, full.get(closer) ?? 0];
  return (a + b) % 3 !== 0 || (a % 3 === 0 && b % 3 === 0);
}

/** Neighbouring texts as one, without empty ones. */
function merged(tokens: readonly Inline[]): Inline[] {
  const result: Inline[] = [];
  for (const token of tokens) {
    const last = result.at(-1);
    if (token.kind === 'text' && last?.kind === 'text') last.text += token.text;
    else if (token.kind !== 'text') result.push(token);
    else if (token.text) result.push({ ...token });
  }
  return result;
}
