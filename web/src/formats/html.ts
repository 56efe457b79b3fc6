// HTML: the translator itself keeps its markup. A large document is cut where no sentence and no element can be hurt.
import { charset } from './detect.js';
import type { DocumentOptions, DocumentTranslator } from './document.js';
import { translateSections } from './document.js';

/** Translates HTML; every tag stays, only the document's language becomes the other one, and its encoding ours. */
export async function translateHTMLDocument(
  translator: DocumentTranslator,
  html: string,
  options: DocumentOptions,
): Promise<string> {
  const translated = await translateSections(
    sectionsOf(html),
    async (sections) => [await translator.translateHTML(sections.join(''), { signal: options.signal })],
    options,
  );
  const { sourceLanguage, targetLanguage } = translator;
  const language = /^([^]*?<html\b[^<>]*?\blang\s*=\s*["']?)([A-Za-z]{2,3})(?:-[\w-]+)?/i;
  return translated
    .replace(language, (written, before: string, tag: string) =>
      targetLanguage && sourceLanguage?.split('-')[0] === tag.toLowerCase()
        ? before + targetLanguage
        : written,
    )
    .replace(charset, (written, before: string, name: string) =>
      /^utf-?8$/i.test(name) ? written : `${before}utf-8`,
    );
}

// What must be seen as a whole: comments, and elements whose content is not, or not always, to be translated.
const whole =
  /<!--(?:-?>|[^]*?(?:-->|$))|<(script|style|textarea|title|xmp|iframe|no\w+|plaintext|pre|svg|math|object|video|audio|canvas|code|kbd|samp|var)\b[^]*?(?:<\/\1\s*>|$)/gi;
const cut = /<\/(?:p|h[1-6]|li|tr|d[dl]|section|article)\s*>/gi;
const excluded = /\btranslate\s*=\s*(?:["']\s*)?no\b|\b(?:no|skip)translate\b/i;

/** Cuts after the ends of blocks, outside of what must be seen as a whole. */
function sectionsOf(html: string): string[] {
  // How far an element reaches that is marked as not to be translated, only the translator knows.
  if (excluded.test(html)) return [html];
  const closed = Array.from(
    html.matchAll(whole),
    ({ index, 0: text }) => [index, index + text.length] as const,
  );
  const sections: string[] = [];
  let start = 0;
  let next = 0;
  for (const { index, 0: tag } of html.matchAll(cut)) {
    while ((closed[next]?.[1] ?? Infinity) <= index) ++next;
    if ((closed[next]?.[0] ?? Infinity) < index) continue;
    sections.push(html.slice(start, (start = index + tag.length)));
  }
  if (start < html.length) sections.push(html.slice(start));
  return sections;
}
