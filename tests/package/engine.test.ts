// The real WebAssembly modules on the tiny model, in every variant that this Node can run, against the native engine.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { loadEngine, supportedVariants } from '../../dist/index.js';
import { greedySearch, inRepository, tinyModel } from './tiny-model.js';

type Module = Awaited<ReturnType<typeof loadEngine>>['module'];

const native = (args: string[], input = '') =>
  execFileSync(inRepository('build/native/octavo'), args, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
const manifest = JSON.parse(readFileSync(inRepository('package.json'), 'utf8')) as { version: string };

const options = { ...greedySearch, scores: true, alignment: true };

const texts = [
  'The house.',
  'a',
  '  spaces around  ',
  '',
  'Straße – 漢字 and 😀',
  ...Array.from(
    { length: 59 },
    (_, i) => `Sentence ${String(i)} has ${'more and '.repeat(i % 9)}words, ${String(i * 37)}.`,
  ),
];

const model = tinyModel().path;

/** Loads a model into the engine, or returns the reason why not. */
function load(module: Module, bytes: Uint8Array, kernel = '') {
  const buffer = new module.ModelBuffer(bytes.length);
  buffer.view().set(bytes);
  const engine = module.loadEngine(buffer, kernel);
  buffer.delete();
  return engine;
}

function mustLoad(module: Module, kernel = '') {
  const engine = load(module, readFileSync(model), kernel);
  if (typeof engine === 'string') throw new Error(engine);
  return engine;
}

function translate(engine: ReturnType<typeof mustLoad>, segments: string[], extra = {}) {
  const job = engine.start(segments, { ...options, ...extra });
  if (typeof job === 'string') throw new Error(job);
  for (let more: boolean | string = true; more;) {
    more = job.advance(5);
    if (typeof more === 'string') throw new Error(more);
  }
  const results = job.finish();
  job.delete();
  return results;
}

/** Where engine/src/model_file.h has the fields that say where things are and how large. */
const header = {
  tensors: 64,
  descriptionBytes: 68,
  checksum: 76,
  fileBytes: 80,
  description: 88,
  table: 104,
};
const tensor = { rows: 52, columns: 56, offset: 64, bytes: 72 };

/** The model after a change to its numbers, with a checksum that fits: what only the checks behind it can refuse. */
function resealed(change: Change) {
  const bytes = new Uint8Array(readFileSync(model));
  const view = new DataView(bytes.buffer);
  change(view, Number(view.getBigUint64(header.table, true)));
  view.setUint32(header.checksum, 0, true);
  view.setUint32(header.checksum, crc32(bytes), true);
  return bytes;
}

type Change = (view: DataView, table: number) => void;
const number =
  (field: number, value: number): Change =>
  (view) => {
    view.setUint32(field, value, true);
  };
const long =
  (field: number, value: bigint): Change =>
  (view) => {
    view.setBigUint64(field, value, true);
  };
/** The same in the first entry of the table. */
const inTable =
  (change: Change): Change =>
  (view, table) => {
    change(new DataView(view.buffer, table), 0);
  };

const hostile: [string, Change, RegExp][] = [
  // Numbers that are small once they have lost their upper 32 bits, as they would in a size_t of WebAssembly.
  ...[2n ** 32n, 2n ** 32n + 128n, 2n ** 63n, 2n ** 64n - 64n].flatMap((far): typeof hostile => [
    [`a description at ${String(far)}`, long(header.description, far), /description/],
    [`a tensor table at ${String(far)}`, long(header.table, far), /table/],
    [`a tensor at ${String(far)}`, inTable(long(tensor.offset, far)), /outside the file/],
    [`a tensor of ${String(far)} bytes`, inTable(long(tensor.bytes, far)), /size/],
  ]),
  ['a file of 4 GB more', number(header.fileBytes + 4, 1), /truncated/],
  ['a description of 4 GB', number(header.descriptionBytes, 0xffffffff), /description/],
  ['as many tensors as there are numbers', number(header.tensors, 0xffffffff), /tensors/],
  [
    'a tensor of 2^32 elements that calls itself empty',
    inTable((view) => {
      view.setUint32(tensor.rows, 65536, true);
      view.setUint32(tensor.columns, 65536, true);
      view.setBigUint64(tensor.bytes, 0n, true);
    }),
    /size|shape/,
  ],
];

test('Node 22 and later run the relaxed variant, and get it by default', async () => {
  const relaxed = Number(process.versions.node.split('.')[0]) >= 22;
  expect(supportedVariants()).toEqual(relaxed ? ['relaxed', 'simd128'] : ['simd128']);
  expect((await loadEngine()).variant).toBe(relaxed ? 'relaxed' : 'simd128');
});

describe.each(supportedVariants())('%s', (variant) => {
  let module: Module;
  beforeAll(async () => {
    ({ module } = await loadEngine(variant));
  });

  test('has the version of the package and a kernel of its own', () => {
    expect(module.version()).toBe(manifest.version);
    // The relaxed build has two: which one is the fastest, the CPU decides.
    expect(variant === 'relaxed' ? ['relaxed', 'fused'] : ['simd128']).toContain(module.bestKernel());
  });

  test.each([1, 4])(
    'beam %i: same texts, scores and alignments as the native engine, for any kernel and batch',
    (beam) => {
      const args = ['translate', model, '--json', '--scores', '--alignment', '--beam', String(beam)];
      const expected = native([...args, '--kernel', 'reference'], texts.join('\n') + '\n')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as NativeSegment);
      expect(expected).toHaveLength(texts.length);
      const kernels = ['reference', 'simd128', ...(variant === 'relaxed' ? ['relaxed', 'fused'] : [])];
      for (const kernel of kernels) {
        const engine = mustLoad(module, kernel);
        expect(engine.info().kernel).toBe(kernel);
        for (const batch of [1, 7, 64]) {
          const got = [];
          for (let i = 0; i < texts.length; i += batch) {
            got.push(...translate(engine, texts.slice(i, i + batch), { beam }));
          }
          // As strings: Jest takes seconds to walk through all the numbers.
          expect(JSON.stringify(got.map(comparable)) === JSON.stringify(expected.map(fromNative))).toBe(true);
        }
        engine.delete();
      }
    },
  );

  test.each([
    ['nothing', () => new Uint8Array(), /truncated|too short|not an Octavo model/i],
    ['half a file', () => readFileSync(model).subarray(0, 30_000), /truncated/i],
    [
      'another file',
      () => new TextEncoder().encode('{"this": "is JSON"}'.repeat(20)),
      /not an Octavo model/i,
    ],
    ['a flipped bit', () => flipped(readFileSync(model)), /checksum/i],
  ])('refuses %s with a reason', (_, bytes, reason) => {
    expect(load(module, bytes())).toMatch(reason);
  });

  test('a model that is only sealed anew is still accepted', () => {
    const engine = load(
      module,
      resealed(() => undefined),
    );
    if (typeof engine === 'string') throw new Error(engine);
    engine.delete();
  });

  test.each(hostile)('refuses %s, in 32 bits too', (_, change, reason) => {
    expect(load(module, resealed(change))).toMatch(reason);
  });

  test.each(readdirSync(inRepository('tests/fuzz/corpus/model_file')))(
    'what fuzzing has found, %s, is refused or works',
    (name) => {
      const engine = load(module, readFileSync(inRepository(`tests/fuzz/corpus/model_file/${name}`)));
      if (typeof engine === 'string') {
        expect(engine).not.toBe('');
        return;
      }
      expect(translate(engine, ['The house.'])).toHaveLength(1);
      engine.delete();
    },
  );

  test('refuses unknown kernels and impossible options with a reason', () => {
    expect(load(module, readFileSync(model), 'avx9000')).toMatch(/no kernel "avx9000"/);
    const engine = mustLoad(module);
    expect(engine.start(['a'], { ...options, beam: 0 })).toMatch(/beam/);
    expect(engine.start(['a'], { ...options, alternatives: 5 })).toMatch(/alternatives/);
    engine.delete();
  });

  test('a dropped job leaves the engine usable', () => {
    const engine = mustLoad(module);
    const expected = translate(engine, texts.slice(0, 3));
    const job = engine.start(texts, options);
    if (typeof job === 'string') throw new Error(job);
    job.advance(0);
    job.delete();
    expect(translate(engine, texts.slice(0, 3))).toEqual(expected);
    engine.delete();
  });

  test('memory does not grow after the first translation', () => {
    const engine = mustLoad(module);
    translate(engine, texts, { beam: 4 });
    const before = memory(module);
    for (let i = 0; i < 5; ++i) translate(engine, texts, { beam: 4 });
    expect(memory(module)).toBe(before);
    engine.delete();
  });
});

interface NativeSegment {
  alternatives: {
    text: string;
    score: number;
    tokenScores: number[];
    offsets: number[];
    alignment: number[][];
  }[];
  sourceOffsets: number[];
}

/** What both engines say, in one form: numbers as the nearest 32-bit float. */
const fromNative = ({ alternatives, sourceOffsets }: NativeSegment) => ({
  sourceOffsets,
  alternatives: alternatives.map(({ text, score, tokenScores, offsets, alignment }) => ({
    text,
    score: Math.fround(score),
    tokenScores: tokenScores.map(Math.fround),
    offsets,
    alignment: alignment.flat(),
  })),
});

const comparable = ({ alternatives, sourceOffsets }: ReturnType<typeof translate>[number]) => ({
  sourceOffsets: [...sourceOffsets],
  alternatives: alternatives.map(({ text, score, tokenScores, offsets, alignment }) => ({
    text,
    score,
    tokenScores: [...tokenScores],
    offsets: [...offsets],
    alignment: [...alignment],
  })),
});

function flipped(bytes: Uint8Array) {
  bytes[bytes.length - 1000] = (bytes[bytes.length - 1000] ?? 0) ^ 4;
  return bytes;
}

/** The size of the module's memory. */
function memory(module: Module) {
  const buffer = new module.ModelBuffer(16);
  const size = buffer.view().buffer.byteLength;
  buffer.delete();
  return size;
}
