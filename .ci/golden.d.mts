/** A segment as the engine or the native tool returns it. */
interface Segment {
  alternatives: {
    text: string;
    tokenScores: ArrayLike<number>;
    alignment: Iterable<number | number[]>;
  }[];
}
export function goldenSentences(): string[];
export function goldenHash(segment: Segment): string;
export function nativeHashes(kernel: string, batch?: number, sentences?: string[]): string[];
