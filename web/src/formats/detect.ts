// Which kind of document a file is, and whether it is text at all.

/** The kinds of documents that can be translated. */
export type Format = 'text' | 'html' | 'markdown' | 'srt' | 'vtt';

const extensions: readonly (readonly [Format, RegExp])[] = [
  ['text', /\.te?xt$/i],
  ['html', /\.x?html?$/i],
  ['markdown', /\.(?:md|markdown|mdown|mkd)$/i],
  ['srt', /\.srt$/i],
  ['vtt', /\.vtt$/i],
];

const vtt = /^\uFEFF?WEBVTT(?:[ \t\r\n]|$)/;
const srt = /^\uFEFF?\s*(?:\d+[ \t]*(?:\r\n|\n|\r)[ \t]*)?\d{1,3}:\d{1,2}:\d{1,2}[,.]\d{1,3}[ \t]*-->/;
// What a lookahead has found is not tried in another way: a comment ends at its first arrow, however many there are.
const html =
  /^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?(?:(?=(<!--[^]*?-->\s*))\1)*<(?:!doctype\s+html|html|head|body)\b/i;
// Each is seldom in other texts; two of them are Markdown.
const markdownSigns = [
  /^#{1,6} \S/m,
  /\]\([^)\]\s]+\)/,
  /^(?:`{3}|~{3})/m,
  /\*\*\S[^*]*\*\*/,
  /^\|[ :|-]+\|$/m,
];

/** Tells the format of a file by what it holds, as far as that is clear, and otherwise by its name. */
export function detectFormat(name: string, text: string): Format {
  const named = extensions.find(([, pattern]) => pattern.test(name))?.[0];
  if (named === 'html' || named === 'markdown') return named;
  if (vtt.test(text)) return 'vtt';
  if (srt.test(text)) return 'srt';
  if (named) return named;
  if (html.test(text)) return 'html';
  return markdownSigns.filter((sign) => sign.test(text)).length >= 2 ? 'markdown' : 'text';
}

/** Says that a file is not text: a picture, a PDF, an office document. */
export class NotTextError extends Error {
  override readonly name = 'NotTextError';
}

/** Where HTML and XML name their encoding. */
export const charset =
  /^([^]{0,1024}?(?:<meta\b[^>]*?\bcharset\s*=\s*|<\?xml\b[^>]*?\bencoding\s*=\s*)(?:["']\s*)?)([\w:-]+)/i;

/**
 * The text of a file: UTF-8, UTF-16 with a byte order mark, the encoding that it names, or, as in many subtitles,
 * Windows-1252. A byte order mark stays at its beginning. Throws a `NotTextError` if the bytes are not text.
 */
export function decodeText(bytes: Uint8Array): string {
  const decode = (encoding: string, fatal: boolean) =>
    new TextDecoder(encoding, { fatal, ignoreBOM: true }).decode(bytes);
  let text: string;
  if (bytes[0] === 0xff && bytes[1] === 0xfe) text = decode('utf-16le', false);
  else if (bytes[0] === 0xfe && bytes[1] === 0xff) text = decode('utf-16be', false);
  else {
    try {
      text = decode('utf-8', true);
    } catch {
      text = decode('windows-1252', false);
      try {
        text = decode(charset.exec(text)?.[2] ?? '', false);
      } catch {
        // It names none, or one that nobody knows.
      }
    }
  }
  if (isText(text)) return text;
  throw new NotTextError('This file is not text.');
}

/** Whether a string can be text: control characters, and what no decoder could read, are rare in it. */
function isText(text: string): boolean {
  if (text.startsWith('%PDF-') || text.includes('\0')) return false;
  // eslint-disable-next-line no-control-regex -- they are what is looked for
  const strange = text.match(/[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]/g)?.length ?? 0;
  return strange <= text.length / 200;
}
