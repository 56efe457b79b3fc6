// How large the model would be in FP32.

/**
 * How many numbers a model has learnt, by its description's shape: embedding (one for both languages and the output),
 * projections with biases, feed-forward networks, norms, and b and δ of each head. Undefined if the shape is not known.
 */
export function parameterCount(description: Readonly<Record<string, unknown>>): number | undefined {
  const shape = (description.shape ?? {}) as Readonly<Record<string, unknown>>;
  const [vocabulary, width, ffn, heads, encoder, decoder] = [
    'vocabulary',
    'width',
    'ffn',
    'heads',
    'encoder_layers',
    'decoder_layers',
  ].map((name) => Number(shape[name])) as [number, number, number, number, number, number];
  const norm = 2 * width;
  const attention = 4 * (width * width + width) + (shape.attention === 'polynomial' ? 2 * heads : 0) + norm;
  const feedForward = 2 * width * ffn + ffn + width + norm;
  const layers = encoder * (attention + feedForward) + decoder * (2 * attention + feedForward);
  const count = vocabulary * width + layers + (encoder > 0 ? 2 : 1) * norm;
  return Number.isFinite(count) ? count : undefined;
}
