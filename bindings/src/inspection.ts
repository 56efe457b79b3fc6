// What went on inside the network, for people who want to see it.
import type { RawInspection } from './worker/protocol.js';

/** What went on inside the network while it translated one sentence. */
export interface Inspection {
  /** The pieces of the source, the end mark included; `▁` stands for a space. */
  readonly source: readonly string[];
  /** The pieces of the translation, the end mark included. */
  readonly target: readonly string[];
  /** What each target piece looked at in the source, by decoder layer and head. */
  readonly attention: readonly AttentionHead[];
  /** The places that the numbers pass, in order. */
  readonly stations: readonly Station[];
}

/** The cross-attention of one head: `weights[target][source]` are the integers, 0 … 127, that multiply the values. */
export interface AttentionHead {
  /** Of the decoder, from 0. */
  readonly layer: number;
  /** In the layer, from 0. */
  readonly head: number;
  /** By target piece, then by source piece. */
  readonly weights: readonly (readonly number[])[];
}

/** A place in the network where INT8 numbers carry one scale per piece: a value is the integer divided by its scale. */
export interface Station {
  /** Which half of the network. */
  readonly part: 'encoder' | 'decoder';
  /** From 0; also 0 for the embedding before and the norm after all layers. */
  readonly layer: number;
  /** After which operation. */
  readonly name: 'embedding' | 'attention' | 'cross' | 'ffn' | 'norm';
  /** One per source piece in the encoder, one per target piece in the decoder. */
  readonly scales: readonly number[];
}

/** The engine's flat arrays as rows. */
export function inspectionOf({ source, target, attention, stations }: RawInspection): Inspection {
  const row = (weights: Int8Array, at: number) => [
    ...weights.subarray(at * source.length, (at + 1) * source.length),
  ];
  return {
    source,
    target,
    attention: attention.map((head) => ({
      ...head,
      weights: target.map((_, at) => row(head.weights, at)),
    })),
    stations: stations.map((station) => ({ ...station, scales: [...station.scales] })),
  };
}
