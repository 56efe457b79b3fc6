// Plain text: the translator itself keeps its layout. It is cut between paragraphs, never inside a block of code.
import type { DocumentOptions, DocumentTranslator } from './document.js';
import { translateSections } from './document.js';

/** Translates plain text; blank lines, indentation and list marks stay. */
export const translatePlainText = (
  translator: DocumentTranslator,
  text: string,
  options: DocumentOptions,
): Promise<string> =>
  translateSections(
    paragraphsOf(text),
    (paragraphs) => translator.translateBatch(paragraphs, { signal: options.signal }),
    options,
  );

/** The paragraphs with the blank lines after them. Between two code fences everything is one. */
function paragraphsOf(text: string): string[] {
  const paragraphs: string[] = [];
  let inCode = false;
  for (const [part] of text.matchAll(/[^]*?(?:(?:\r\n|\n|\r(?!\n))(?:[ \t]*(?:\r\n|\n|\r))+|$)/g)) {
    if (inCode) paragraphs.push((paragraphs.pop() ?? '') + part);
    else if (part) paragraphs.push(part);
    const fences = part.match(/^[ \t]*(?:`{3,}|~{3,}|---[ \t]*$)/gm)?.length ?? 0;
    if (fences % 2) inCode = !inCode;
  }
  return paragraphs;
}
