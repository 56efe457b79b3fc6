// A text's way through the engine: cut into sentences, translated, put together again with all that lay between them.
import { Batcher, type BatcherOptions } from './batcher.js';
import type {
  DetailOptions,
  TranslateOptions,
  TranslatedSentence,
  Translation,
  WordLink,
} from './options.js';
import { searchOptions, wantsDetails } from './options.js';
import type { WorkerPool } from './pool.js';
import { linksOf, unitsOf } from './text/alignment.js';
import type { Restored } from './text/restore.js';
import { splitSentences, type Piece } from './text/sentences.js';
import { translateElement } from './text/dom.js';
import { translateHTML } from './text/html.js';
import { translateSentences } from './text/translate.js';

type Options = TranslateOptions & DetailOptions;

// Sentences of one request that are prepared ahead of the engine, per worker: two tasks' worth.
const ahead = 64;
// How many milliseconds in a row may go into preparing them: a page wants to draw, too.
const patience = 12;

/** Translates texts with the workers of a pool. */
export class Pipeline {
  readonly #pool: WorkerPool;
  readonly #language: string;

  constructor(pool: WorkerPool, sourceLanguage: string) {
    this.#pool = pool;
    this.#language = sourceLanguage;
  }

  /** Translates one text. `onChunk` gets each part of the translation, in order and as early as possible. */
  async translate(text: string, options: Options, onChunk?: (chunk: string) => void): Promise<Translation> {
    const request = this.#request(options, { eager: onChunk !== undefined, aligned: options.alignment });
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

  #rules({ glossary, doNotTranslate }: TranslateOptions) {
    return { language: this.#language, glossary, doNotTranslate };
  }

  /** Sentences for the engine that belong together: they end together as well. */
  #request(options: Options, how: Pick<BatcherOptions, 'eager' | 'aligned'> = {}) {
    const stop = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
    const batcher = new Batcher(this.#pool, { search: searchOptions(options), signal, ...how });
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
    const pieces = splitSentences(text, { language: this.#language });
    const results = pieces.map((piece) =>
      piece.kind === 'sentence' ? window.enter(() => this.#sentence(piece, options, batcher)) : undefined,
    );
    // One may fail while we wait for another.
    for (const result of results) result?.catch(() => undefined);
    let translation = '';
    const sentences: TranslatedSentence[] = [];
    for (const [i, piece] of pieces.entries()) {
      const sentence = (await results[i])?.(translation.length);
      if (sentence) sentences.push(sentence);
      const chunk = sentence?.text ?? piece.text;
      translation += chunk;
      onChunk?.(chunk);
    }
    return { text: translation, sentences };
  }

  /** Translates a sentence. Where it will stand in the translation is known only later: hence a function. */
  async #sentence(
    piece: Piece,
    options: Options,
    batcher: Batcher,
  ): Promise<(start: number) => TranslatedSentence> {
    batcher.check();
    const rules = this.#rules(options);
    const scores = new Scores();
    const ranked = async (rank: number) => {
      const [restored] = await translateSentences([piece.text], rules, async (texts) => {
        scores.add(rank, await Promise.all(texts.map((masked) => batcher.translate(masked))));
        return batcher.translateTexts(texts, rank);
      });
      return restored;
    };
    const best = await ranked(0);
    const text = best?.text ?? piece.text;
    const details = wantsDetails(options)
      ? await this.#details(piece, options, best, scores, ranked)
      : undefined;
    return (start) => ({
      text,
      source: { start: piece.start, end: piece.end },
      target: { start, end: start + text.length },
      ...details?.(start),
    });
  }

  async #details(
    piece: Piece,
    options: Options,
    best: Restored | undefined,
    scores: Scores,
    ranked: (rank: number) => Promise<Restored | undefined>,
  ): Promise<(start: number) => Partial<TranslatedSentence>> {
    const others = [best];
    for (let rank = 1; rank < (options.alternatives ?? 1); ++rank) others.push(await ranked(rank));
    const alternatives = others
      .map((restored, rank) => ({ text: restored?.text ?? piece.text, confidence: scores.confidence(rank) }))
      .filter(({ text }, rank, all) => all.findIndex((other) => other.text === text) === rank);
    return (start) => ({
      ...(options.confidence || options.alternatives !== undefined
        ? { confidence: scores.confidence(0) }
        : {}),
      ...(options.alternatives !== undefined ? { alternatives } : {}),
      ...(options.alignment ? { alignment: wordLinks(best, piece.start, start) } : {}),
    });
  }
}

/** How sure the engine was of a sentence's translations. */
class Scores {
  readonly #sums: { score: number; tokens: number }[] = [];

  /** Only the first attempt at a sentence counts: a second one, where something was lost, is differently worded. */
  add(rank: number, segments: Awaited<ReturnType<Batcher['translate']>>[]): void {
    this.#sums[rank] ??= segments.reduce(
      (sum, { alternatives, sourceTokens }) => ({
        score: sum.score + sourceTokens * (alternatives[Math.min(rank, alternatives.length - 1)]?.score ?? 0),
        tokens: sum.tokens + sourceTokens,
      }),
      { score: 0, tokens: 0 },
    );
  }

  /** The mean probability of the words; 1 for what needed no engine. */
  confidence(rank: number): number {
    const { score, tokens } = this.#sums[rank] ?? { score: 0, tokens: 0 };
    return tokens > 0 ? Math.min(1, Math.exp(score / tokens)) : 1;
  }
}

/** Lets only so many in at a time; the others wait in order, and so does everything while the page has its turn. */
class Window {
  readonly #waiting: (() => void)[] = [];
  #free: number;
  #turn = performance.now();

  constructor(size: number) {
    this.#free = size;
  }

  async enter<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      if (performance.now() > this.#turn + patience) {
        await new Promise((resolve) => setTimeout(resolve));
        this.#turn = performance.now();
      }
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}

function wordLinks(restored: Restored | undefined, source: number, target: number): WordLink[] {
  if (!restored?.alignment) return [];
  const units = unitsOf(restored.text);
  return linksOf(restored.alignment, units).flatMap((links, i) => {
    const { start, end } = units[i] ?? { start: 0, end: 0 };
    const total = links.reduce((sum, { weight }) => sum + weight, 0);
    return links.map(({ span, weight }) => ({
      source: { start: source + span[0], end: source + span[1] },
      target: { start: target + start, end: target + end },
      weight: weight / total,
    }));
  });
}
