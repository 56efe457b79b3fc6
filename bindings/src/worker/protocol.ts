// What the page and its workers say to each other. A worker does one thing at a time: each request but `cancel` is
// answered exactly once before the next is sent, so that the pool always knows which workers are free.
import type { Engine as WasmEngine, SearchOptions } from '../simd128/octavo.mjs' with {
  'resolution-mode': 'import',
};
import type { Variant } from '../variants.js';

export type { SearchOptions };

/** A model on its way to a worker: its bytes, or (Node) the path of the file. Neither is copied by being sent. */
export type ModelHandle = Blob | string;

/** What a worker is asked. */
export type Request =
  | { type: 'load'; model: ModelHandle; variant: Variant | undefined; kernel: string }
  | { type: 'translate'; id: number; segments: string[]; options: SearchOptions }
  | { type: 'count'; id: number; segments: string[] }
  | { type: 'inspect'; id: number; sentence: string; translation: string }
  | { type: 'cancel'; id: number };

/** What a worker answers. After `crashed` it is of no more use. */
export type Reply =
  | { type: 'loaded'; info: LoadedInfo }
  | { type: 'refused'; reason: string; outOfMemory: boolean }
  | { type: 'translated'; id: number; segments: Segment[]; stats: Stats }
  | { type: 'counted'; id: number; counts: number[] }
  | { type: 'inspected'; id: number; inspection: RawInspection }
  | { type: 'failed'; id: number; reason: string }
  | { type: 'cancelled'; id: number }
  | { type: 'crashed'; reason: string };

/** What the engine saw; the weights of a head are one array, row after row. */
export type RawInspection = Exclude<ReturnType<WasmEngine['inspect']>, string>;

/** What a worker says of the engine that it has loaded. */
export interface LoadedInfo {
  variant: Variant;
  kernel: string;
  wasmBytes: number;
  modelBytes: number;
  memoryBytes: number;
  /** The model's own description, as JSON. */
  description: string;
}

/** What a translation took. */
export interface Stats {
  milliseconds: number;
  tokens: number;
  memoryBytes: number;
}

/** One translated segment as the engine returns it. All offsets count UTF-8 bytes. */
export interface Segment {
  /** Best first, never empty. */
  alternatives: SegmentText[];
  sourceTokens: number;
  /** Where each source piece starts, and where the last one ends; empty unless scores or alignment were asked for. */
  sourceOffsets: Uint32Array;
}

/** One translation of a segment. */
export interface SegmentText {
  text: string;
  /** Mean log-probability per token. */
  score: number;
  tokenScores: Float32Array;
  /** As `sourceOffsets`, in `text`. */
  offsets: Uint32Array;
  /** How much each target piece attended to each source piece, row after row; a row sums to about 255 per head. */
  alignment: Int32Array;
  loopStopped: boolean;
  lengthLimited: boolean;
}
