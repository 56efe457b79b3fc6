// Writes a Marian model with random weights, as Bergamot reads it: of the shape of ours, so that both do the same work.
//
// The file (Marian's binary format, version 1): u64 version, u64 count, then for each item u64 name length, type, number
// of dimensions, data length; the names, zero-terminated; the shapes, i32 each; padding; the data. INT8 matrices are
// transposed (not the embedding), and one float, the quantisation multiplier, stands behind them.

const types = { float32: 0x0404, int8: 0x0101, intgemm8: 0x4101 };

/** Bytes of an item, padded to 256. */
const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 255)]);

/** A splitmix-like generator: the same file every time. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) / 2 ** 31 - 1; // -1..1
  };
}

const settings = ({ vocabulary, width, ffn, heads, encoder, decoder }) => `bert-train-type-embeddings: true
bert-type-vocab-size: 2
dec-cell: gru
dec-cell-base-depth: 2
dec-cell-high-depth: 1
dec-depth: ${decoder}
dim-emb: ${width}
dim-rnn: 1024
dim-vocabs:
  - ${vocabulary}
  - ${vocabulary}
enc-cell: gru
enc-cell-depth: 1
enc-depth: ${encoder}
enc-type: bidirectional
factors-combine: sum
factors-dim-emb: 0
input-types:
  []
layer-normalization: false
lemma-dim-emb: 0
output-omit-bias: false
right-left: false
skip: false
tied-embeddings: false
tied-embeddings-all: true
tied-embeddings-src: false
transformer-aan-activation: swish
transformer-aan-depth: 2
transformer-aan-nogate: false
transformer-decoder-autoreg: self-attention
transformer-dim-aan: 2048
transformer-dim-ffn: ${ffn}
transformer-ffn-activation: relu
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-heads: ${heads}
transformer-no-projection: false
transformer-pool: false
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-postprocess-top: ""
transformer-preprocess: ""
transformer-tied-layers:
  []
transformer-train-position-embeddings: false
type: transformer
ulr: false
ulr-dim-emb: 0
ulr-trainable-transformation: false
version: v1.9.56 2781d735 2021-01-01 00:00:00 +0000
`;

/** The bytes of a model; `silent` are tokens that it never produces, so that its length is what the limit says. */
export function marianModel(shape, silent) {
  const { vocabulary, width, ffn, encoder, decoder } = shape;
  const random = generator(1);
  const items = [];
  const floats = (name, dimensions, value) => {
    const numbers = new Float32Array(dimensions[0] * dimensions[1]).map(value);
    items.push({ name, type: types.float32, dimensions, data: padded(Buffer.from(numbers.buffer)) });
  };
  const matrix = (name, rows, columns) => {
    const limit = Math.sqrt(6 / (rows + columns));
    const numbers = new Int8Array(rows * columns).map(() => Math.round(127 * random()));
    const multiplier = Buffer.from(new Float32Array([127 / limit]).buffer);
    const data = padded(Buffer.concat([Buffer.from(numbers.buffer), multiplier]));
    items.push({ name, type: types.intgemm8, dimensions: [rows, columns], data });
    floats(`${name}_QuantMultA`, [1, 1], () => 127 / 5);
  };
  const bias = (name, columns) => floats(name, [1, columns], () => 0.02 * random());
  const norm = (name) => {
    floats(`${name}_ln_scale`, [1, width], () => 1);
    floats(`${name}_ln_bias`, [1, width], () => 0);
  };
  const attention = (name) => {
    for (const part of ['q', 'k', 'v', 'o']) {
      matrix(`${name}_W${part}`, width, width);
      bias(`${name}_b${part}`, width);
    }
    norm(`${name}_Wo`);
  };
  const feedForward = (name) => {
    matrix(`${name}_W1`, width, ffn);
    bias(`${name}_b1`, ffn);
    matrix(`${name}_W2`, ffn, width);
    bias(`${name}_b2`, width);
    norm(`${name}_ffn`);
  };

  matrix('Wemb', vocabulary, width);
  floats('none_QuantMultA', [1, 1], () => 127 / 5);
  for (let layer = 1; layer <= encoder; ++layer) {
    attention(`encoder_l${layer}_self`);
    feedForward(`encoder_l${layer}_ffn`);
  }
  for (let layer = 1; layer <= decoder; ++layer) {
    attention(`decoder_l${layer}_self`);
    attention(`decoder_l${layer}_context`);
    feedForward(`decoder_l${layer}_ffn`);
  }
  floats('decoder_ff_logit_out_b', [1, vocabulary], (_, i) => (silent.includes(i) ? -1e4 : 0.02 * random()));
  const description = Buffer.from(`${settings(shape)}\0`);
  const special = { type: types.int8, dimensions: [description.length], data: description };
  items.push({ name: 'special:model.yml', ...special });
  return file(items.sort((a, b) => (a.name < b.name ? -1 : 1)));
}

function file(items) {
  const u64 = (...numbers) => Buffer.from(new BigUint64Array(numbers.map(BigInt)).buffer);
  const head = Buffer.concat([
    u64(1, items.length),
    ...items.map(({ name, type, dimensions, data }) =>
      u64(name.length + 1, type, dimensions.length, data.length),
    ),
    ...items.map(({ name }) => Buffer.from(`${name}\0`)),
    ...items.map(({ dimensions }) => Buffer.from(new Int32Array(dimensions).buffer)),
  ]);
  const gap = (Math.floor((head.length + 8) / 256) + 1) * 256 - head.length - 8;
  return Buffer.concat([head, u64(gap), Buffer.alloc(gap), ...items.map(({ data }) => data)]);
}
