// The sentences that were translated last: a text that is translated again and again while it is written costs only what is new.
import type { SearchOptions, Segment } from './worker/protocol.js';

// A hundred pages, unless there are alignments or alternatives, which take many times what the words do.
const mostBytes = 16_000_000;

/** Remembers sentences and how they were asked for; the one that was not asked for longest is forgotten first. */
export class SentenceMemory {
  readonly #segments = new Map<string, Segment>();
  #bytes = 0;

  recall(text: string, search: SearchOptions): Segment | undefined {
    const key = keyOf(text, search);
    const known = this.#segments.get(key);
    if (known) {
      this.#segments.delete(key); // and put at the end: a map keeps the order
      this.#segments.set(key, known);
    }
    return known;
  }

  clear(): void {
    this.#segments.clear();
    this.#bytes = 0;
  }

  keep(text: string, search: SearchOptions, segment: Segment): void {
    const key = keyOf(text, search);
    if (this.#segments.has(key)) return;
    this.#segments.set(key, segment);
    this.#bytes += bytesOf(key, segment);
    for (const [oldest, forgotten] of this.#segments) {
      if (this.#bytes <= mostBytes) break;
      this.#segments.delete(oldest);
      this.#bytes -= bytesOf(oldest, forgotten);
    }
  }
}

const keyOf = (text: string, search: SearchOptions) => `${JSON.stringify(search)} ${text}`;

// What the objects of a sentence or of a translation take beside their content, measured in Node.
const overhead = 2000;

/** What a sentence takes in memory, roughly. */
function bytesOf(key: string, { alternatives, sourceOffsets }: Segment): number {
  let bytes = overhead + 2 * key.length + sourceOffsets.byteLength;
  for (const { text, tokenScores, offsets, alignment } of alternatives)
    bytes += overhead + 2 * text.length + tokenScores.byteLength + offsets.byteLength + alignment.byteLength;
  return bytes;
}
