// A text's way through the engine: cut into sentences, translated, put together again with all that lay between them.
import { Batcher, type BatcherOptions } from './batcher.js';
import { SentenceMemory } from './memory.js';
import type {
  Alternative,
  DetailOptions,
  TranslateOptions,
  TranslatedSentence,
  Translation,
  WordLink,
} from './options.js';
import { searchOptions, wantsDetails } from './options.js';
import type { WorkerPool } from './pool.js';
import { linksOf, unitsOf } from './text/alignment.js';
import { breathe } from './text/breathe.js';
import { piecesOf, type Piece } from './text/sentences.js';
import { translateElement } from './text/dom.js';
import { translateHTML } from './text/html.js';
import { type Translated, translateSentences } from './text/translate.js';
import type { Segment } from './worker/protocol.js';

type Options = TranslateOptions & DetailOptions;

// Sentences of one request that are prepared ahead of the engine, per worker: two tasks' worth.
const ahead = 64;

/** A translated sentence, once it is known where in the translation it begins. */
type Placeable = (start: number) => TranslatedSentence;

/** Translates texts with the workers of a pool. */
export class Pipeline {
  readonly #pool: WorkerPool;
  readonly #language: string;
  readonly #memory = new SentenceMemory();

  constructor(pool: WorkerPool, sourceLanguage: string) {
    this.#pool = pool;
    this.#language = sourceLanguage;
  }

  /** Forgets what it has translated. */
  destroy(): void {
    this.#memory.clear();
  }

  /** Translates one text. `onChunk` gets each part of the translation, in order and as early as possible. */
  async translate(text: string, options: Options, onChunk?: (chunk: string) => void): Promise<Translation> {
    const eager = onChunk !== undefined || options.onSentence !== undefined;
    const request = this.#request(options, { eager, aligned: options.alignment });
    try {
      return await this.#translate(
        text,
        options,
        request.batcher,
        new Window(ahead * this.#pool.size),
        onChunk,
      );
    } finally {
      request.end();
    }
  }

  /** Translates unrelated texts together. One that fails comes back as it was, and `failed` is told. */
  async translateAll(
    texts: readonly string[],
    options: Options,
    failed: (index: number, error: unknown) => void,
  ): Promise<string[]> {
    const { batcher } = this.#request(options);
    const window = new Window(ahead * this.#pool.size);
    const outcomes = await Promise.allSettled(
      texts.map((text) => this.#translate(text, options, batcher, window)),
    );
    options.signal?.throwIfAborted();
    return outcomes.map((outcome, index) => {
      if (outcome.status === 'fulfilled') return outcome.value.text;
      const error: unknown = outcome.reason;
      if (!(error instanceof DOMException) || error.name !== 'OperationError') throw error;
      failed(index, error);
      return texts[index] ?? '';
    });
  }

  /** Translates HTML; the markup stays around the words that it belongs to. */
  async translateHTML(html: string, options: TranslateOptions): Promise<string> {
    const { batcher, end } = this.#request(options, { aligned: true });
    try {
      return await translateHTML(html, this.#rules(options), batcher.translateTexts);
    } finally {
      end();
    }
  }

  /** Translates what is below a node of a document, in place. */
  async translateElement(root: Node, options: TranslateOptions): Promise<void> {
    const { batcher, end } = this.#request(options, { aligned: true });
    try {
      await translateElement(root, this.#rules(options), batcher.translateTexts);
    } finally {
      end();
    }
  }

  #rules({ glossary, doNotTranslate, signal }: TranslateOptions) {
    return { language: this.#language, glossary, doNotTranslate, signal };
  }

  /** Sentences for the engine that belong together: they end together as well. */
  #request(options: Options, how: Pick<BatcherOptions, 'eager' | 'aligned'> = {}) {
    const stop = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
    const batcher = new Batcher(this.#pool, {
      search: searchOptions(options),
      signal,
      memory: this.#memory,
      ...how,
    });
    // After a failure the rest of the request need not be translated.
    const end = () => {
      stop.abort();
    };
    return { batcher, end };
  }

  async #translate(
    text: string,
    options: Options,
    batcher: Batcher,
    window: Window,
    onChunk?: (chunk: string) => void,
  ): Promise<Translation> {
    let translation = '';
    const sentences: TranslatedSentence[] = [];
    const pieces = piecesOf(text, { language: this.#language });
    const queue: { piece: Piece; result: Promise<Placeable> | undefined }[] = [];
    /** Cuts and prepares sentences until enough of them are ahead of the engine. */
    const fill = async () => {
      while (queue.length < ahead * this.#pool.size) {
        await breathe();
        batcher.check();
        const next = pieces.next();
        if (next.done) return;
        const { value: piece } = next;
        const result =
          piece.kind === 'sentence' ? window.enter(() => this.#sentence(piece, options, batcher)) : undefined;
        result?.catch(() => undefined); // it may fail while we wait for another
        queue.push({ piece, result });
      }
    };
    for (;;) {
      await fill();
      const next = queue.shift();
      if (!next) return { text: translation, sentences };
      const { piece, result } = next;
      const sentence = (await result)?.(translation.length);
      if (sentence) sentences.push(sentence);
      const chunk = sentence?.text ?? piece.text;
      translation += chunk;
      onChunk?.(chunk);
      if (sentence) options.onSentence?.(sentence);
    }
  }

  async #sentence(piece: Piece, options: Options, batcher: Batcher): Promise<Placeable> {
    batcher.check();
    const ranked = async (rank: number) => {
      const ask = (texts: string[], again?: boolean) => batcher.translateTexts(texts, again, rank);
      const [translated] = await translateSentences([piece.text], this.#rules(options), ask);
      return translated ?? { text: piece.text, asked: [] };
    };
    const best = await ranked(0);
    const details = wantsDetails(options)
      ? await this.#details(piece, options, best, batcher, ranked)
      : undefined;
    return (start) => ({
      text: best.text,
      source: { start: piece.start, end: piece.end },
      target: { start, end: start + best.text.length },
      ...details?.(start),
    });
  }

  async #details(
    piece: Piece,
    { alternatives: wanted, confidence, alignment }: Options,
    best: Ranked,
    batcher: Batcher,
    ranked: (rank: number) => Promise<Ranked>,
  ): Promise<(start: number) => Partial<TranslatedSentence>> {
    const alternatives: Alternative[] = [];
    for (let rank = 0; rank < (wanted ?? 1); ++rank) {
      const { text, asked } = rank === 0 ? best : await ranked(rank);
      const segments = await Promise.all(asked.map((masked) => batcher.translate(masked)));
      if (alternatives.some((other) => other.text === text)) continue;
      alternatives.push({ text, confidence: confidenceOf(segments, rank) });
    }
    return (start) => ({
      ...(confidence || wanted !== undefined ? { confidence: alternatives[0]?.confidence ?? 1 } : {}),
      ...(wanted !== undefined ? { alternatives } : {}),
      ...(alignment ? { alignment: wordLinks(best, piece.start, start) } : {}),
    });
  }
}

/** One of the translations of a sentence. */
type Ranked = Pick<Translated, 'text' | 'asked' | 'alignment'>;

/** The mean probability of the words in the n-th best translation; 1 for what needed no engine. */
function confidenceOf(segments: readonly Segment[], rank: number): number {
  let [sum, tokens] = [0, 0];
  for (const { alternatives, sourceTokens } of segments) {
    const { score = 0 } = alternatives[Math.min(rank, alternatives.length - 1)] ?? {};
    sum += sourceTokens * score;
    tokens += sourceTokens;
  }
  return tokens > 0 ? Math.min(1, Math.exp(sum / tokens)) : 1;
}

/** Lets only so many in at a time; the others wait in order. */
class Window {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(size: number) {
    this.#free = size;
  }

  async enter<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

function wordLinks({ text, alignment }: Ranked, source: number, target: number): WordLink[] {
  if (!alignment) return [];
  const units = unitsOf(text);
  return linksOf(alignment, units).flatMap((links, i) => {
    const { start, end } = units[i] ?? { start: 0, end: 0 };
    const total = links.reduce((sum, { weight }) => sum + weight, 0);
    return links.map(({ span, weight }) => ({
      source: { start: source + span[0], end: source + span[1] },
      target: { start: target + start, end: target + end },
      weight: weight / total,
    }));
  });
}
