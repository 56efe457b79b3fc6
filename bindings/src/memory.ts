// The sentences that were translated last: a text that is translated again and again while it is written costs only what is new.
import type { SearchOptions, Segment } from './worker/protocol.js';

// A hundred pages. With alignments, sentences of usual length take some ten megabytes then.
const mostCharacters = 300_000;

/** Remembers sentences and how they were asked for; the one that was not asked for longest is forgotten first. */
export class SentenceMemory {
  readonly #segments = new Map<string, { text: string; segment: Segment }>();
  #characters = 0;

  recall(text: string, search: SearchOptions): Segment | undefined {
    const key = keyOf(text, search);
    const known = this.#segments.get(key);
    if (known) {
      this.#segments.delete(key); // and put at the end: a map keeps the order
      this.#segments.set(key, known);
    }
    return known?.segment;
  }

  clear(): void {
    this.#segments.clear();
    this.#characters = 0;
  }

  keep(text: string, search: SearchOptions, segment: Segment): void {
    const key = keyOf(text, search);
    if (!this.#segments.has(key)) this.#characters += text.length;
    this.#segments.set(key, { text, segment });
    for (const [oldest, { text: forgotten }] of this.#segments) {
      if (this.#characters <= mostCharacters) break;
      this.#segments.delete(oldest);
      this.#characters -= forgotten.length;
    }
  }
}

const keyOf = (text: string, search: SearchOptions) => `${JSON.stringify(search)} ${text}`;
