// The real WebAssembly modules on the tiny model, in every variant that this Node can run, against the native engine.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
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

  test('has the version of the package and its own kernel', () => {
    expect(module.version()).toBe(manifest.version);
    expect(module.bestKernel()).toBe(variant);
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
      const kernels = ['reference', 'simd128', ...(variant === 'relaxed' ? ['relaxed'] : [])];
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
