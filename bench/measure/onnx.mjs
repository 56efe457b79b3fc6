// onnxruntime-web, one thread: single matrix products with constant weights.
import { importFile } from './files.mjs';

/** Loads the runtime: its file for Node, or the one for browsers. */
export async function loadRuntime() {
  const directory = 'bench/node_modules/onnxruntime-web/dist/';
  const ort = await importFile(directory + (globalThis.process ? 'ort.node.min.mjs' : 'ort.wasm.min.mjs'));
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'error';
  return ort;
}

// A model is a protocol buffer; these are the few fields that a single operation needs.
const varint = (number) => {
  const bytes = [];
  for (; number > 127; number = Math.floor(number / 128)) bytes.push((number % 128) + 128);
  return [...bytes, number];
};
const integer = (field, value) => [...varint(field * 8), ...varint(value)];
const text = (field, value) => block(field, new TextEncoder().encode(value));
function block(field, ...parts) {
  const total = parts.reduce((sum, part) => sum + part.length, 0);
  const head = [...varint(field * 8 + 2), ...varint(total)];
  const bytes = new Uint8Array(head.length + total);
  bytes.set(head);
  let at = head.length;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

const types = { float32: 1, uint8: 2, int8: 3, int32: 6 };

function tensorType(name, type, dimensions) {
  const shape = block(2, ...dimensions.map((size) => block(1, integer(1, size))));
  return [text(1, name), block(2, block(1, integer(1, types[type]), shape))];
}

/** y = operation(x, w), or just x to y if there are no weights. x: (m, k), w: (k, n). */
function model(operation, [m, k, n], input, output, weights) {
  const inputs = weights ? ['x', 'w'] : ['x'];
  const node = block(1, ...inputs.map((name) => text(1, name)), text(2, 'y'), text(4, operation));
  const constant = weights && [
    block(
      5,
      integer(1, k),
      integer(1, n),
      integer(2, types[weights.type]),
      text(8, 'w'),
      block(9, new Uint8Array(weights.data.buffer)),
    ),
  ];
  const graph = block(
    7,
    node,
    text(2, 'g'),
    ...(constant ?? []),
    block(11, ...tensorType('x', input, [m, k])),
    block(12, ...tensorType('y', output, [m, weights ? n : k])),
  );
  const whole = block(1, integer(1, 8), graph, block(8, text(1, ''), integer(2, 17)));
  return whole.subarray(headLength(whole)); // a model is no field itself
}

/** Length of the outermost field's tag and size. */
function headLength(bytes) {
  let at = 1;
  while (bytes[at] & 128) ++at;
  return at + 1;
}

/**
 * A product of that shape: INT8 (MatMulInteger) or FP32 (MatMul); and the identity on the same input, whose time is what
 * calling the runtime costs.
 */
export async function loadProduct(ort, kind, [m, k, n]) {
  const int8 = kind === 'int8';
  const Data = int8 ? Uint8Array : Float32Array;
  const weights = int8
    ? { type: 'int8', data: new Int8Array(k * n).map((_, i) => ((i * 37) % 255) - 127) }
    : { type: 'float32', data: new Float32Array(k * n).fill(0.25) };
  const input = int8 ? 'uint8' : 'float32';
  const x = new ort.Tensor(input, new Data(m * k).fill(1), [m, k]);
  const options = { executionProviders: ['wasm'], graphOptimizationLevel: 'all' };
  const open = (bytes) => ort.InferenceSession.create(bytes, options);
  const product = await open(
    model(int8 ? 'MatMulInteger' : 'MatMul', [m, k, n], input, int8 ? 'int32' : 'float32', weights),
  );
  const identity = await open(model('Identity', [m, k, n], input, input));
  const repeat = (session) => async (times) => {
    for (let i = 0; i < times; ++i) await session.run({ x });
  };
  return {
    run: repeat(product),
    call: repeat(identity),
    release: () => Promise.all([product.release(), identity.release()]),
  };
}
