// Cuts HTML into tokens as browsers do, without building a tree: every character ends up in exactly one token.

/** An attribute of a tag, with the offsets of its value in the tag's text. */
export interface Attribute {
  name: string;
  value: string;
  /** Where the value stands, without its quotation marks; undefined if there is none. */
  span: [start: number, end: number] | undefined;
  /** Its quotation mark, or nothing. */
  quote: string;
}

/** A start or end tag. */
export interface TagToken {
  kind: 'start' | 'end';
  raw: string;
  /** In small letters. */
  name: string;
  attributes: Attribute[];
  selfClosing: boolean;
}

/** Text between tags; `verbatim` in elements whose text is not HTML, such as script. */
export interface TextToken {
  kind: 'text' | 'verbatim';
  raw: string;
}

/** Comments, and everything that is neither text nor a whole tag: doctypes, CDATA, a tag that the end cuts off. */
export interface OtherToken {
  kind: 'comment' | 'other';
  raw: string;
}

/** A token of HTML. */
export type Token = TagToken | TextToken | OtherToken;

const blank = '[\\t\\n\\f\\r ]';
const tagName = /<(\/?)([A-Za-z][^\t\n\f\r />]*)/y;
const attribute = new RegExp(
  `(?:${blank}|/)*([^\\t\\n\\f\\r />][^\\t\\n\\f\\r />=]*)(?:${blank}*=${blank}*(?:"([^"]*)"|'([^']*)'|(?!["'])([^\\t\\n\\f\\r >]*)))?`,
  'y',
);
const unterminated = new RegExp(
  `(?:${blank}|/)*[^\\t\\n\\f\\r />][^\\t\\n\\f\\r />=]*${blank}*=${blank}*["']`,
  'y',
);
const tagEnd = new RegExp(`(?:${blank}|/)*>`, 'y');
const comment = /<!--(?:-?>|[^]*?(?:--!?>|$))/y;
const cdata = /<!\[CDATA\[[^]*?\]\]>/y;
const declaration = /<(?:[!?]|\/[^A-Za-z])[^>]*>?/y;
const rawText = new Set([
  'script',
  'style',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
  'textarea',
  'title',
  'plaintext',
]);

/** Cuts HTML into tokens; their raw texts, put together, are the HTML again. Never throws. */
export function tokenize(html: string): Token[] {
  const tokens: Token[] = [];
  const lastData = html.lastIndexOf(']]>');
  let text = 0;
  let at = 0;
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.exec(html);
  };
  const add = (token: Token) => {
    if (text < at) tokens.push({ kind: 'text', raw: html.slice(text, at) });
    tokens.push(token);
    at += token.raw.length;
    text = at;
  };
  while ((at = html.indexOf('<', at)) >= 0) {
    const tag = readTag(html, at);
    if (tag) {
      add(tag);
      if (tag.kind === 'start' && rawText.has(tag.name)) at = text = addRawText(html, at, tag.name, tokens);
      continue;
    }
    const commented = html.startsWith('<!--', at) ? match(comment) : null;
    const other = commented ?? (at < lastData ? match(cdata) : null) ?? match(declaration);
    if (other) add({ kind: commented ? 'comment' : 'other', raw: other[0] });
    else ++at; // a lonely sign
  }
  at = html.length;
  if (text < at) tokens.push({ kind: 'text', raw: html.slice(text) });
  return tokens;
}

/** Reads a tag; one that never ends takes the rest of the text with it, as in browsers. */
function readTag(html: string, start: number): TagToken | OtherToken | undefined {
  tagName.lastIndex = start;
  const opening = tagName.exec(html);
  if (!opening) return undefined;
  const attributes: Attribute[] = [];
  for (let at = tagName.lastIndex; ;) {
    tagEnd.lastIndex = at;
    const end = tagEnd.exec(html);
    if (end) {
      const raw = html.slice(start, tagEnd.lastIndex);
      const selfClosing = end[0].endsWith('/>');
      return {
        kind: opening[1] ? 'end' : 'start',
        raw,
        name: (opening[2] ?? '').toLowerCase(),
        attributes,
        selfClosing,
      };
    }
    attribute.lastIndex = at;
    const found = attribute.exec(html);
    if (!found || isCut(html, at, found)) return { kind: 'other', raw: html.slice(start) };
    at = attribute.lastIndex;
    attributes.push(attributeOf(found, at - start));
  }
}

/** Whether a value's closing quotation mark is missing. */
function isCut(html: string, at: number, found: RegExpExecArray): boolean {
  unterminated.lastIndex = at;
  return found[2] === undefined && found[3] === undefined && unterminated.test(html);
}

function attributeOf(found: RegExpExecArray, end: number): Attribute {
  const name = (found[1] ?? '').toLowerCase();
  const value = found[2] ?? found[3] ?? found[4];
  const quote = found[2] !== undefined ? '"' : found[3] !== undefined ? "'" : '';
  if (value === undefined) return { name, value: '', span: undefined, quote };
  const to = end - quote.length;
  return { name, value, span: [to - value.length, to], quote };
}

/** Adds what stands in an element without markup, up to its end tag; returns where that is. */
function addRawText(html: string, start: number, name: string, tokens: Token[]): number {
  const close = name === 'plaintext' ? -1 : endTagAt(html, start, name);
  const end = close < 0 ? html.length : close;
  if (start < end)
    tokens.push({ kind: name === 'title' && close >= 0 ? 'text' : 'verbatim', raw: html.slice(start, end) });
  return end;
}

function endTagAt(html: string, start: number, name: string): number {
  const end = new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, 'gi');
  end.lastIndex = start;
  return end.exec(html)?.index ?? -1;
}
