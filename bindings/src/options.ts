// What can be asked of a translation, and what comes back.
import type { SearchOptions } from './worker/protocol.js';

/** What can be asked of a translation that comes back as a string. */
export interface TranslateOptions {
  /** Stops the translation; its promise is then rejected with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Hypotheses that are kept while searching, 1 … 64. More are slower and somewhat better; 1 unless given. */
  beam?: number | undefined;
  /** Words and phrases of the source with the translation that each must get. */
  glossary?: Readonly<Record<string, string>> | undefined;
  /** Words and phrases that are left as they are. */
  doNotTranslate?: readonly string[] | undefined;
}

/** What can be asked beyond a string. If any of these but `onSentence` is, `translate` resolves with a `Translation`. */
export interface DetailOptions {
  /** How many translations of each sentence to return, best first; at most `beam`, if that is given. */
  alternatives?: number | undefined;
  /** Also tell which words come from which. */
  alignment?: boolean | undefined;
  /** Also tell how sure the engine is. */
  confidence?: boolean | undefined;
  /** Told of each sentence, in order and as early as possible. */
  onSentence?: ((sentence: TranslatedSentence) => void) | undefined;
}

/** Options with which `translate` resolves with a `Translation`. */
export type DetailedOptions = TranslateOptions &
  DetailOptions &
  (Record<'alternatives', number> | Record<'alignment', true> | Record<'confidence', true>);

/** A passage of a text by UTF-16 offsets, as `String.prototype.slice` takes them. */
export interface TextRange {
  /** Where it begins. */
  readonly start: number;
  /** Where it ends: the first offset that is not in it. */
  readonly end: number;
}

/** A text with its sentences. */
export interface Translation {
  /** The whole translation. */
  readonly text: string;
  /** In the order of the text. What lies between them was layout and is unchanged. */
  readonly sentences: readonly TranslatedSentence[];
}

/** A sentence of a translation. */
export interface TranslatedSentence {
  /** Its translation. */
  readonly text: string;
  /** Where it stands in the original. */
  readonly source: TextRange;
  /** Where it stands in the translation. */
  readonly target: TextRange;
  /** The mean probability of its words, 0 … 1, if `confidence` or `alternatives` was asked for. */
  readonly confidence?: number;
  /** Other translations, the best (which is `text`) first, if `alternatives` was asked for. */
  readonly alternatives?: readonly Alternative[];
  /** What comes from what, if `alignment` was asked for. */
  readonly alignment?: readonly WordLink[];
}

/** One of several translations of a sentence. */
export interface Alternative {
  /** The translation. */
  readonly text: string;
  /** The mean probability of its words, 0 … 1. */
  readonly confidence: number;
}

/** A word of the translation and a passage of the original that it comes from; both by offsets in the whole texts. */
export interface WordLink {
  /** The passage of the original. */
  readonly source: TextRange;
  /** The word of the translation. */
  readonly target: TextRange;
  /** How much of the word comes from there, 0 … 1. */
  readonly weight: number;
}

/** Whether the caller wants more than a string. */
export const wantsDetails = ({ alternatives, alignment, confidence }: DetailOptions): boolean =>
  alternatives !== undefined || alignment === true || confidence === true;

/** The options that the engine understands. Throws a `RangeError` for numbers that make no sense. */
export function searchOptions(options: TranslateOptions & DetailOptions): SearchOptions {
  const alternatives = whole('alternatives', options.alternatives ?? 1, 64);
  const beam = whole('beam', options.beam ?? (alternatives > 1 ? Math.max(alternatives, 4) : 1), 64);
  if (alternatives > beam) throw new RangeError('alternatives cannot be more than beam.');
  return {
    beam,
    alternatives,
    lengthPenalty: 1,
    maxLengthFactor: 2,
    maxLengthExtra: 16,
    loopPhrase: 16,
    scores: options.confidence === true || options.alternatives !== undefined,
    alignment: false, // asked for where it is needed: see Batcher
  };
}

function whole(name: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new RangeError(`${name} must be a whole number from 1 to ${String(most)}, not ${String(value)}.`);
}
