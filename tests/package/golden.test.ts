// The published hashes of translations, log-probabilities and alignments (tests/data/golden.json, `npm run golden`): native
// kernels and WebAssembly must all arrive at them. Chromium does in tests/browser.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { goldenHash, goldenSentences, nativeHashes } from '../../.ci/golden.mjs';
import { loadEngine, supportedVariants } from '../../dist/index.js';
import { greedySearch, inRepository } from './tiny-model.js';

const golden = JSON.parse(readFileSync(inRepository('tests/data/golden.json'), 'utf8')) as {
  model: string;
  hashes: string[];
};
const model = readFileSync(inRepository('models/en-de/model.octavo'));
const sentences = goldenSentences();
const options = { ...greedySearch, scores: true, alignment: true };

test('the hashes are of this model and these sentences', () => {
  expect(golden.model).toBe(createHash('sha256').update(model).digest('hex'));
  expect(golden.hashes).toHaveLength(sentences.length);
  expect(sentences.length).toBeGreaterThan(300);
});

test.each([
  ['simd128', 1],
  ['relaxed', 64],
])('native, %s, batches of %i', (kernel, batch) => {
  expect(nativeHashes(kernel, batch)).toEqual(golden.hashes);
});

test('native, reference', () => {
  const some = sentences.slice(0, 20); // it is slow
  expect(nativeHashes('reference', 64, some)).toEqual(golden.hashes.slice(0, 20));
});

test.each(supportedVariants())('WebAssembly, %s', async (variant) => {
  const { module } = await loadEngine(variant);
  const buffer = new module.ModelBuffer(model.length);
  buffer.view().set(model);
  const engine = module.loadEngine(buffer, '');
  if (typeof engine === 'string') throw new Error(engine);
  const job = engine.start(sentences, options);
  if (typeof job === 'string') throw new Error(job);
  while (job.advance(1000) === true);
  expect(job.finish().map(goldenHash)).toEqual(golden.hashes);
});
