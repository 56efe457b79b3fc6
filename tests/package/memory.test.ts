// What was translated last is not translated again.
import { expect, test } from '@jest/globals';
import { Batcher } from '../../dist/batcher.js';
import { SentenceMemory } from '../../dist/memory.js';
import { searchOptions } from '../../dist/options.js';
import type { WorkerPool } from '../../dist/pool.js';
import type { Segment } from '../../dist/worker/protocol.js';

/** A pool that says what it was asked. */
function listeningPool() {
  const asked: string[] = [];
  const pool = {
    size: 1,
    translate: (texts: string[]) => {
      asked.push(...texts);
      return Promise.resolve(texts.map((text) => ({ alternatives: [{ text }] }) as unknown as Segment));
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
  const long = (i: number) => `${String(i)} ${'x'.repeat(1000)}.`;
  for (let i = 0; i < 350; ++i) {
    await translate(long(i));
    await translate('Often.');
  }
  expect(asked).toHaveLength(351);
  await translate(long(349));
  expect(asked).toHaveLength(351);
  await translate(long(0));
  expect(asked).toHaveLength(352);
});
