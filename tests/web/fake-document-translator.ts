// The translator of documents without a model: the package's own care for text and HTML around a fake.
import { linesOf } from '../../web/src/formats/document.js';
import { linksOf, unitsOf } from '../../dist/text/alignment.js';
import { translateHTML } from '../../dist/text/html.js';
import { splitSentences } from '../../dist/text/sentences.js';
import type { TranslateTexts } from '../../dist/text/translate.js';
import { translateSentences, translateText } from '../../dist/text/translate.js';
import type { DocumentTranslator } from '../../web/src/formats/index.js';

/** A translator of documents that gives sentences to a fake model; it notes the sentences. */
export function documentTranslator(translate: TranslateTexts): DocumentTranslator & { seen: string[] } {
  const seen: string[] = [];
  const noting: TranslateTexts = (texts) => {
    seen.push(...texts);
    return translate(texts);
  };
  return {
    seen,
    translateHTML: async (html, options) => {
      options?.signal?.throwIfAborted();
      return translateHTML(html, {}, noting);
    },
    translateBatch: async (texts, options) => {
      options?.signal?.throwIfAborted();
      return Promise.all(Array.from(texts, async (text) => (await translateText(text, {}, noting)).text));
    },
    translate: async (text, options) => {
      options.signal?.throwIfAborted();
      const sentences = [];
      let result = '';
      for (const { kind, text: source, start, end } of splitSentences(text)) {
        const [restored] = kind === 'sentence' ? await translateSentences([source], {}, noting) : [];
        const at = result.length;
        result += restored?.text ?? source;
        if (!restored) continue;
        const units = unitsOf(restored.text);
        const links = restored.alignment ? linksOf(restored.alignment, units) : [];
        sentences.push({
          source: { start, end },
          target: { start: at, end: result.length },
          alignment: links.flatMap((own, i) =>
            own.map(({ span, weight }) => ({
              source: { start: start + span[0], end: start + span[1] },
              target: { start: at + (units[i]?.start ?? 0), end: at + (units[i]?.end ?? 0) },
              weight: weight / own.reduce((sum, link) => sum + link.weight, 0),
            })),
          ),
        });
      }
      return { text: result, sentences };
    },
  };
}

/** The ends of a text's lines. */
export const lineEnds = (text: string): string[] => linesOf(text).map(({ end }) => end);
