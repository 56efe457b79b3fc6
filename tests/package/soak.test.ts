// A short soak, with the real model: that what `npm run soak` does at length works at all.
import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { inRepository } from './tiny-model.js';

test('translators come and go, workers die, callers change their mind', () => {
  const numbers = { translations: 40, lives: 4, kills: 8, callers: 10, rounds: 3 };
  const args = ['--expose-gc', inRepository('tests/soak/node.mjs'), JSON.stringify(numbers)];
  const said = execFileSync(process.execPath, args, { encoding: 'utf8' }).trimEnd().split('\n');
  expect(JSON.parse(said.at(-1) ?? '')).toMatchObject({
    translations: 40,
    lives: 4,
    deadWorkers: { asked: 48, killed: 8 },
    manyCallers: { calls: 30 },
  });
}, 120_000);
