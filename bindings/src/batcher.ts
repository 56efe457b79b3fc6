// The sentences of one request, gathered from wherever they come up and handed to the pool a few at a time.
import type { SentenceMemory } from './memory.js';
import type { WorkerPool } from './pool.js';
import type { AlignedTranslation } from './text/alignment.js';
import { alignmentOfBytes } from './text/alignment.js';
import type { SearchOptions, Segment, SegmentText } from './worker/protocol.js';

// As many as the engine takes into one batch: more in one task would only delay others that wait.
const largestTask = 32;

interface Waiting {
  text: string;
  /** Whether something that is otherwise finished waits for it. */
  urgent: boolean;
  resolve: (segment: Segment) => void;
  reject: (error: unknown) => void;
}

/** How a request is to be worked on. */
export interface BatcherOptions {
  search: SearchOptions;
  /** What earlier requests have translated. */
  memory?: SentenceMemory | undefined;
  signal?: AbortSignal | undefined;
  /** Whether the first sentences matter more than speed: tasks then begin with one sentence, and grow. */
  eager?: boolean | undefined;
  /** Whether every alignment will be looked at, and not only where something may have to be put in its place. */
  aligned?: boolean | undefined;
}

/** Translates the sentences of one request; the result of each is the same, however they are grouped. */
export class Batcher {
  readonly #pool: WorkerPool;
  readonly #options: BatcherOptions;
  readonly #known = new Map<string, Promise<Segment>>();
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #scheduled = false;
  #size: number;

  constructor(pool: WorkerPool, options: BatcherOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#size = options.eager ? 1 : largestTask;
  }

  /** Throws if the request has been stopped, so that nobody prepares what will not be translated. */
  check(): void {
    this.#options.signal?.throwIfAborted();
  }

  /** Translates a sentence; the same sentence only once. One that is urgent comes before those that wait. */
  translate(text: string, urgent = false): Promise<Segment> {
    const known = this.#known.get(text);
    if (known) return known;
    const remembered = this.#options.memory?.recall(text, this.#searchFor([text]));
    const segment = remembered ? Promise.resolve(remembered) : this.#enqueue(text, urgent);
    this.#known.set(text, segment);
    return segment;
  }

  #enqueue(text: string, urgent: boolean): Promise<Segment> {
    const segment = new Promise<Segment>((resolve, reject) => {
      const first = urgent && this.#options.eager === true;
      const waiting = { text, urgent: first, resolve, reject };
      if (first) this.#waiting.unshift(waiting);
      else this.#waiting.push(waiting);
    });
    this.#schedule();
    return segment;
  }

  /** Translates sentences into their n-th best translations, with alignments, as the text modules want them. */
  readonly translateTexts = (texts: string[], urgent = false, rank = 0): Promise<AlignedTranslation[]> =>
    Promise.all(
      texts.map(async (text) => {
        const segment = await this.translate(text, urgent);
        return this.#searchFor([text]).alignment
          ? aligned(text, segment, rank)
          : { text: best(segment, rank)?.text ?? text };
      }),
    );

  /** The search for these sentences. An alignment is large: only what a translation may have lost is put back by it. */
  #searchFor(texts: readonly string[]): SearchOptions {
    const { search, aligned } = this.#options;
    return { ...search, alignment: aligned === true || texts.some((text) => /[⟦\p{N}]/u.test(text)) };
  }

  /** Waits until everybody who has something to translate now has said so. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#begin();
    });
  }

  #begin(): void {
    while (this.#waiting.length > 0 && this.#running < this.#pool.size) {
      const share = Math.ceil(this.#waiting.length / (this.#pool.size - this.#running));
      const urgent = this.#waiting.findIndex((waiting) => !waiting.urgent);
      const task = this.#waiting.splice(0, urgent > 0 ? urgent : Math.min(this.#size, share));
      this.#size = Math.min(2 * this.#size, largestTask);
      this.#running++;
      void this.#run(task).then(() => {
        this.#running--;
        this.#schedule();
      });
    }
  }

  async #run(task: Waiting[]): Promise<void> {
    const { memory, signal } = this.#options;
    try {
      const texts = task.map(({ text }) => text);
      const segments = await this.#pool.translate(texts, this.#searchFor(texts), signal);
      task.forEach(({ text, resolve, reject }, i) => {
        const segment = segments[i];
        if (segment) {
          memory?.keep(text, this.#searchFor([text]), segment);
          resolve(segment);
        } else reject(new Error('The engine has returned too little.'));
      });
    } catch (error) {
      // What one sentence does to the engine must not befall its neighbours.
      if (task.length > 1 && isOperationError(error)) for (const single of task) await this.#run([single]);
      else for (const { reject } of task) reject(error);
    }
  }
}

/** Whether the engine or a worker failed, rather than that somebody stopped it. */
const isOperationError = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'OperationError';

const best = ({ alternatives }: Segment, rank: number): SegmentText | undefined =>
  alternatives[Math.min(rank, alternatives.length - 1)];

function aligned(source: string, segment: Segment, rank: number): AlignedTranslation {
  const { text = source, offsets = [], alignment = [] } = best(segment, rank) ?? {};
  return {
    text,
    alignment:
      alignment.length > 0
        ? alignmentOfBytes(source, text, segment.sourceOffsets, offsets, alignment)
        : undefined,
  };
}
