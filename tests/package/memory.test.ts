// What was translated last is not translated again.
import { describe, expect, test } from '@jest/globals';
import { Batcher } from '../../dist/batcher.js';
import { SentenceMemory } from '../../dist/memory.js';
import { searchOptions } from '../../dist/options.js';
import type { WorkerPool } from '../../dist/pool.js';
import type { Segment } from '../../dist/worker/protocol.js';

/** A sentence that became itself, in some ways, with an alignment if there are pieces. */
const segmentOf = (text: string, ways = 1, pieces = 0): Segment => ({
  alternatives: Array.from({ length: ways }, () => ({
    text,
    score: 0,
    tokenScores: new Float32Array(pieces),
    offsets: new Uint32Array(pieces),
    alignment: new Int32Array(pieces * pieces),
    loopStopped: false,
    lengthLimited: false,
  })),
  sourceTokens: pieces,
  sourceOffsets: new Uint32Array(pieces),
});

/** A pool that says what it was asked. */
function listeningPool() {
  const asked: string[] = [];
  const pool = {
    size: 1,
    translate: (texts: string[]) => {
      asked.push(...texts);
      return Promise.resolve(texts.map((text) => segmentOf(text)));
    },
  } as unknown as WorkerPool;
  return { pool, asked };
}

test('a sentence of an earlier request is remembered, for the same options only', async () => {
  const { pool, asked } = listeningPool();
  const memory = new SentenceMemory();
  const greedy = () => new Batcher(pool, { search: searchOptions({}), memory });
  const first = await greedy().translate('One.');
  expect(await greedy().translate('One.')).toBe(first);
  await greedy().translate('Two.');
  expect(asked).toEqual(['One.', 'Two.']);
  await new Batcher(pool, { search: searchOptions({ beam: 4 }), memory }).translate('One.');
  expect(asked).toEqual(['One.', 'Two.', 'One.']);
});

test('only so much is remembered, what was asked for last', async () => {
  const { pool, asked } = listeningPool();
  const memory = new SentenceMemory();
  const translate = (text: string) =>
    new Batcher(pool, { search: searchOptions({}), memory }).translate(text);
  const long = (i: number) => `${String(i)} ${'x'.repeat(10_000)}.`;
  for (let i = 0; i < 500; ++i) {
    await translate(long(i));
    await translate('Often.');
  }
  expect(asked).toHaveLength(501);
  await translate(long(499));
  expect(asked).toHaveLength(501);
  await translate(long(0));
  expect(asked).toHaveLength(502);
});

describe('memory is bounded by what is kept', () => {
  const search = searchOptions({});
  const sentence = (i: number) => `${String(i).padStart(5, '0')} ${'x'.repeat(94)}`;
  const remembered = (memory: SentenceMemory, count: number) =>
    Array.from({ length: count }, (_, i) => i).filter((i) => memory.recall(sentence(i), search));

  test('a hundred pages are remembered', () => {
    const memory = new SentenceMemory();
    for (let i = 0; i < 3000; ++i) memory.keep(sentence(i), search, segmentOf(sentence(i)));
    expect(remembered(memory, 3000)).toHaveLength(3000);
  });

  test('of sentences with alternatives and alignments fewer, and always the last', () => {
    const memory = new SentenceMemory();
    const bytes = 16 * (2 * 100 + 4 * (25 + 25 + 25 * 25));
    for (let i = 0; i < 3000; ++i) memory.keep(sentence(i), search, segmentOf(sentence(i), 16, 25));
    const kept = remembered(memory, 3000);
    expect(kept.length * bytes).toBeLessThan(16e6);
    expect(kept.length * bytes).toBeGreaterThan(4e6);
    expect(kept.at(-1)).toBe(2999);
    expect(kept).toEqual(Array.from(kept, (_, i) => 3000 - kept.length + i));
  });

  test('a sentence that is kept again counts once, and nothing counts after all was forgotten', () => {
    const memory = new SentenceMemory();
    for (let i = 0; i < 3000; ++i) memory.keep(sentence(0), search, segmentOf(sentence(0), 16, 25));
    memory.keep(sentence(1), search, segmentOf(sentence(1)));
    expect(remembered(memory, 2)).toEqual([0, 1]);
    memory.clear();
    for (let i = 0; i < 3000; ++i) memory.keep(sentence(i), search, segmentOf(sentence(i)));
    expect(remembered(memory, 3000)).toHaveLength(3000);
  });
});
