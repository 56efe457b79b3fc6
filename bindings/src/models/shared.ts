// Work that several callers wait for at once. It is done once, and stopped only when none of them wants it any more.
import { abortable, failure } from '../errors.js';
import type { Progress } from './download.js';

/** One piece of shared work. */
export class Shared<T> {
  readonly #controller = new AbortController();
  readonly #listeners = new Set<Progress>();
  readonly #result: Promise<T>;
  #waiting = 0;
  #last: [loaded: number, total: number] | undefined;

  constructor(work: (signal: AbortSignal, onProgress: Progress) => Promise<T>) {
    this.#result = work(this.#controller.signal, (loaded, total) => {
      this.#last = [loaded, total];
      for (const listener of this.#listeners) listener(loaded, total);
    });
    this.#result.catch(() => undefined);
  }

  /** Settles when the work does, whoever else waits. */
  get settled(): Promise<unknown> {
    return this.#result.catch(() => undefined);
  }

  /** Whether everybody has left, so that the work is being stopped. */
  get abandoned(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Waits for the result; leaving, by the signal, is no trouble for the others. */
  async join(signal: AbortSignal | undefined, onProgress: Progress): Promise<T> {
    this.#waiting++;
    this.#listeners.add(onProgress);
    if (this.#last) onProgress(...this.#last);
    try {
      return await abortable(this.#result, signal);
    } finally {
      this.#listeners.delete(onProgress);
      if (--this.#waiting === 0)
        this.#controller.abort(failure('AbortError', 'Nobody waits for this download.'));
    }
  }
}
