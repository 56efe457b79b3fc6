// Translates sentences and texts with a model that sees only masked sentences, many at a time.
import type { AlignedTranslation, Alignment } from './alignment.js';
import { joinAlignments } from './alignment.js';
import { breathe } from './breathe.js';
import { divide } from './divide.js';
import type { Span } from './edits.js';
import type { Masked, ProtectOptions, TextObject, Verbatim } from './protect.js';
import { keptIn, prepare } from './protect.js';
import type { Problem, Restored } from './restore.js';
import { restore } from './restore.js';
import type { SplitOptions } from './sentences.js';
import { splitSentences } from './sentences.js';

/**
 * The model: takes sentences, gives their translations in the same order, with alignments if it can. Those that are asked
 * again, in another way, hold up a text that is otherwise done.
 */
export type TranslateTexts = (
  texts: string[],
  again?: boolean,
) => Promise<readonly (string | AlignedTranslation)[]>;

/** How sentences are translated. */
export interface TranslateOptions extends Pick<ProtectOptions, 'language' | 'glossary' | 'doNotTranslate'> {
  /** Sentences that are longer, in UTF-16 units, are translated in parts. */
  maxLength?: number | undefined;
  /** Stops the work. */
  signal?: AbortSignal | undefined;
}

/** A sentence with passages that the caller looks after. */
export interface Sentence {
  text: string;
  objects?: readonly TextObject[] | undefined;
}

/** A sentence in its translation. */
export interface Translated extends Restored {
  /** What the model was asked, with marks in place of what is kept: a part of the sentence each, in the wording that won. */
  asked: string[];
}

/** A text in its translation, and which sentence became which. */
export interface TranslatedText {
  text: string;
  sentences: { source: Span; target: Span; problems: Problem[] }[];
}

/** A part of a sentence on its way through the model. */
interface Part {
  sentence: number;
  /** Where it begins in the sentence. */
  start: number;
  prepared: Masked | Verbatim;
  options: ProtectOptions;
  result?: Restored;
}

/** Translates a text sentence by sentence; its layout stays as it is. */
export async function translateText(
  text: string,
  options: TranslateOptions & SplitOptions,
  translate: TranslateTexts,
): Promise<TranslatedText> {
  const pieces = splitSentences(text, options);
  const sources = pieces.filter(({ kind }) => kind === 'sentence');
  const translations = (await translateSentences(sources, options, translate)).values();
  const result: TranslatedText = { text: '', sentences: [] };
  for (const piece of pieces) {
    const translation = piece.kind === 'sentence' ? translations.next().value : undefined;
    const start = result.text.length;
    result.text += translation?.text ?? piece.text;
    if (translation) {
      const target: Span = [start, result.text.length];
      result.sentences.push({ source: [piece.start, piece.end], target, problems: translation.problems });
    }
  }
  return result;
}

/**
 * Translates sentences, all in one call of the model; those in which something got lost go into a second call,
 * masked in another way. What is still missing then is put where it most likely belongs.
 */
export async function translateSentences(
  sentences: readonly (string | Sentence)[],
  options: TranslateOptions,
  translate: TranslateTexts,
): Promise<Translated[]> {
  const sources = sentences.map((sentence) => (typeof sentence === 'string' ? { text: sentence } : sentence));
  const parts: Part[] = [];
  for (const [index, sentence] of sources.entries()) {
    await breathe(options.signal);
    parts.push(...partsOf(sentence, index, options));
  }
  await attempt(parts, options, translate, false);

  const again: { part: Part; retry: Part }[] = [];
  for (const part of parts) {
    if (!part.result?.problems.length || 'verbatim' in part.prepared) continue;
    await breathe(options.signal);
    const prepared = prepare(part.prepared.source, { ...part.options, maskNumbers: true, firstMask: 5 });
    // The same question would get the same answer.
    if ('verbatim' in prepared || prepared.masked === part.prepared.masked) continue;
    again.push({ part, retry: { ...part, prepared } });
  }
  await attempt(
    again.map(({ retry }) => retry),
    options,
    translate,
    true,
  );
  for (const { part, retry } of again) {
    const problems = ({ result }: Part) => result?.problems.length ?? Infinity;
    if (retry.result && problems(retry) < problems(part)) Object.assign(part, retry);
  }

  const bySentence = sources.map((): Part[] => []);
  for (const part of parts) bySentence[part.sentence]?.push(part);
  const results: Translated[] = [];
  for (const [i, { text }] of sources.entries()) {
    await breathe(options.signal);
    results.push(join(text, bySentence[i] ?? []));
  }
  return results;
}

/** The parts of a sentence; only one, unless it is too long or too full of things to keep. */
function partsOf({ text, objects = [] }: Sentence, sentence: number, options: TranslateOptions): Part[] {
  const { language, glossary, doNotTranslate, maxLength } = options;
  const protection = { language, glossary, doNotTranslate };
  const kept = keptIn(text, { ...protection, objects });
  return divide(text, kept, maxLength).map(([from, to]) => {
    const part = text.slice(from, to);
    const start = from + part.length - part.trimStart().length;
    const source = part.trim();
    const end = start + source.length;
    const own = objects
      .filter(
        (object) => object.start >= from && object.end <= to && (object.start < to || to === text.length),
      )
      .map((object) => {
        const moved = {
          start: clamp(object.start, start, end) - start,
          end: clamp(object.end, start, end) - start,
        };
        return { ...object, ...moved, original: object };
      });
    const ownOptions = { ...protection, objects: own };
    return { sentence, start, prepared: prepare(source, ownOptions), options: ownOptions };
  });
}

const clamp = (value: number, low: number, high: number) => Math.max(low, Math.min(high, value));

/** Lets the model translate what needs it; the same text only once. */
async function attempt(
  parts: readonly Part[],
  options: TranslateOptions,
  translate: TranslateTexts,
  again: boolean,
): Promise<void> {
  const texts = new Map<string, number>();
  for (const { prepared } of parts) {
    if ('masked' in prepared && !texts.has(prepared.masked)) texts.set(prepared.masked, texts.size);
  }
  const translations = texts.size ? await translate([...texts.keys()], again) : [];
  for (const part of parts) {
    await breathe(options.signal);
    const { prepared } = part;
    part.result =
      'masked' in prepared
        ? restore(translations[texts.get(prepared.masked) ?? -1] ?? '', prepared)
        : unchanged(prepared);
  }
}

/** The result for a text that needs no model. */
function unchanged({ source, verbatim, items }: Verbatim): Restored {
  const placed = items.flatMap(({ objects, masked: [start, end] }) =>
    objects.map((object) => ({ object, start, end })),
  );
  const alignment: Alignment = {
    source: [[0, source.length]],
    target: [[0, verbatim.length]],
    weights: [[1]],
  };
  return { text: verbatim, problems: [], placed, alignment };
}

/** Puts the parts of a sentence together, with the blanks that were between them. */
function join(sentence: string, parts: readonly Part[]): Translated {
  let text = '';
  let done = 0;
  const placed: Restored['placed'] = [];
  const problems: Problem[] = [];
  const alignments = parts.flatMap(({ start, prepared, result }) => {
    text += sentence.slice(done, start);
    done = start + prepared.source.length;
    const target = text.length;
    text += result?.text ?? prepared.source;
    problems.push(...(result?.problems ?? []));
    for (const { object, start: from, end } of result?.placed ?? []) {
      const { original = object } = object as TextObject & { original?: TextObject };
      placed.push({ object: original, start: target + from, end: target + end });
    }
    return result?.alignment ? [{ alignment: result.alignment, source: start, target }] : [];
  });
  text += sentence.slice(done);
  return {
    text,
    problems,
    placed,
    asked: parts.flatMap(({ prepared }) => ('masked' in prepared ? [prepared.masked] : [])),
    // An alignment with holes would mislead.
    alignment: alignments.length === parts.length && parts.length ? joinAlignments(alignments) : undefined,
  };
}
