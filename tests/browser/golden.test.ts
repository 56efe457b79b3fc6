// Chromium arrives at the published hashes, in both builds of the engine (see tests/package/golden.test.ts).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { goldenHash, goldenSentences } from '../../.ci/golden.mjs';
import type * as octavo from '../../dist/index.js';
import { Site, launch, root } from './harness.js';

let site: Site;
let browser: Browser;

beforeAll(async () => {
  const directories = { '/octavo/': 'dist', '/models/': 'models' };
  site = await new Site(
    Object.fromEntries(Object.entries(directories).map(([path, directory]) => [path, join(root, directory)])),
  ).start();
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  await site.stop();
});

/** Runs in the browser: the engine alone, without workers. */
async function translateThere({ variant, sentences }: { variant: octavo.Variant; sentences: string[] }) {
  const address = '/octavo/index.js';
  const { loadEngine } = (await import(address)) as typeof octavo;
  const { module } = await loadEngine(variant);
  const model = new Uint8Array(await (await fetch('/models/en-de/model.octavo')).arrayBuffer());
  const buffer = new module.ModelBuffer(model.length);
  buffer.view().set(model);
  const engine = module.loadEngine(buffer, '');
  if (typeof engine === 'string') throw new Error(engine);
  const options = { beam: 1, alternatives: 1, lengthPenalty: 1, maxLengthFactor: 2, maxLengthExtra: 16 };
  const job = engine.start(sentences, { ...options, loopPhrase: 16, scores: true, alignment: true });
  if (typeof job === 'string') throw new Error(job);
  while (job.advance(1000) === true);
  return job.finish().map(({ alternatives }) => ({
    alternatives: alternatives.map(({ text, tokenScores, alignment }) => ({
      text,
      tokenScores: [...tokenScores],
      alignment: [...alignment],
    })),
  }));
}

test.each(['simd128', 'relaxed'] as const)('Chromium, %s', async (variant) => {
  const page = await browser.newPage();
  await page.goto(site.url('/octavo/package.json')); // any document of the site
  const translated = await page.evaluate(translateThere, { variant, sentences: goldenSentences() });
  const { hashes } = JSON.parse(readFileSync(join(root, 'tests/data/golden.json'), 'utf8')) as {
    hashes: string[];
  };
  expect(translated.map(goldenHash)).toEqual(hashes);
});
