// Translates whole files; what is not text for people comes back as it was.
import type { Format } from './detect.js';
import type { DocumentOptions, DocumentTranslator } from './document.js';
import { translateHTMLDocument } from './html.js';
import { translateMarkdown } from './markdown.js';
import { translatePlainText } from './plain-text.js';
import { translateSRT } from './srt.js';
import { translateVTT } from './vtt.js';

export { NotTextError, decodeText, detectFormat, type Format } from './detect.js';
export type { DocumentOptions, DocumentTranslator } from './document.js';

const translators: Readonly<
  Record<Format, (translator: DocumentTranslator, text: string, options: DocumentOptions) => Promise<string>>
> = {
  text: translatePlainText,
  html: translateHTMLDocument,
  markdown: translateMarkdown,
  srt: translateSRT,
  vtt: translateVTT,
};

/** Translates a document. Its structure, line ends and byte order mark stay, and so does what cannot be understood. */
export async function translateDocument(
  translator: DocumentTranslator,
  format: Format,
  text: string,
  options: DocumentOptions = {},
): Promise<string> {
  options.signal?.throwIfAborted();
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  return mark + (await translators[format](translator, text.slice(mark.length), options));
}
