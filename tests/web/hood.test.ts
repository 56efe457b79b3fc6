// What the panel under the hood computes and says; how it looks and works is tested in a browser.
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { pieceText } from '../../web/src/hood/dom.js';
import { parameterCount } from '../../web/src/hood/size.js';
import { fill, hoodStrings } from '../../web/src/hood/strings.js';
import { inRepository } from '../package/tiny-model.js';

test('the parameters are those of the model file', () => {
  const model = inRepository('models/en-de/model.octavo');
  const listing = execFileSync(inRepository('build/native/octavo'), ['inspect', model], { encoding: 'utf8' });
  const description = /^description\s+(\{.*\})$/m.exec(listing)?.[1] ?? '';
  // Multipliers of columns and the rotations of positions are not learnt.
  const tensors = Array.from(listing.matchAll(/^([a-z_]+\.\S+|[a-z_]+\.\S+)\s+\w+\s+(\d+) x (\d+)\s/gm));
  const learnt = tensors.filter(([, name = '']) => !/\.column$|^positions\./.test(name));
  const count = learnt.reduce((sum, [, , rows, columns]) => sum + Number(rows) * Number(columns), 0);
  expect(learnt.length).toBeGreaterThan(50);
  expect(parameterCount(JSON.parse(description) as Record<string, unknown>)).toBe(count);
});

test('a shape that is not known gives no number', () => {
  expect(parameterCount({})).toBeUndefined();
  expect(parameterCount({ shape: { vocabulary: 8000, width: 'wide' } })).toBeUndefined();
});

test.each([
  ['▁house', 'house'],
  ['ing', '·ing'],
  ['.', '.'],
  ['▁', '▁'],
  ['</s>', 'end'],
])('the piece %s is shown as %s', (piece, text) => {
  expect(pieceText(piece, 'end')).toBe(text);
});

describe('texts', () => {
  const places = (text: unknown): unknown =>
    typeof text === 'string'
      ? [...new Set(text.match(/\{\w+\}/g))].sort()
      : Object.entries(text as object).map(([key, value]) => [key, places(value)]);

  test('both languages have the same texts with the same places', () => {
    expect(places(hoodStrings.de)).toEqual(places(hoodStrings.en));
  });

  test('places are filled, and what stands in them is not', () => {
    expect(fill('{a} and {b}, {c}', { a: '{b}', b: 2 })).toBe('{b} and 2, {c}');
  });
});
