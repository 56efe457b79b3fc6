// The real WebAssembly modules, as the package loads them, in every variant that this Node can run.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { loadEngine, supportedVariants } from '../../dist/index.js';

const data = (name: string) => readFileSync(new URL(`../data/${name}`, import.meta.url));
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

test('Node 22 and later run the relaxed variant, and get it by default', async () => {
  const relaxed = Number(process.versions.node.split('.')[0]) >= 22;
  expect(supportedVariants()).toEqual(relaxed ? ['relaxed', 'simd128'] : ['simd128']);
  expect((await loadEngine()).variant).toBe(relaxed ? 'relaxed' : 'simd128');
});

describe.each(supportedVariants())('%s', (variant) => {
  test('has the version of the package', async () => {
    const { module } = await loadEngine(variant);
    expect(module.version()).toBe(manifest.version);
  });

  test.each(['tiny.spm', 'tiny-bpe.spm'])('%s keeps every character of a text', async (name) => {
    const { module } = await loadEngine(variant);
    const vocabulary = module.loadVocabulary(data(name));
    if (typeof vocabulary === 'string') throw new Error(vocabulary);
    expect(vocabulary.size).toBe(400);

    const text = 'Das kleine Haus – 漢字 and 😀 – steht am Ende der Straße.';
    const ids = vocabulary.encode(text);
    expect(ids).toBeInstanceOf(Int32Array);
    expect(vocabulary.decode(ids)).toBe(text);
    vocabulary.delete();
  });

  test('encodes exactly as the native engine does', async () => {
    const { module } = await loadEngine(variant);
    const vocabulary = module.loadVocabulary(data('tiny.spm'));
    if (typeof vocabulary === 'string') throw new Error(vocabulary);
    for (const [ids, text] of expectedPieces()) expect([...vocabulary.encode(text)]).toEqual(ids);
    vocabulary.delete();
  });

  test.each([
    ['nothing', new Uint8Array()],
    ['half a file', data('tiny.spm').subarray(0, 3000)],
    ['another file', new TextEncoder().encode('{"this": "is JSON"}')],
  ])('refuses %s with a reason', async (_, bytes) => {
    const { module } = await loadEngine(variant);
    expect(module.loadVocabulary(bytes)).toMatch(/^The vocabulary cannot be used: .+\.$/);
  });
});

/** The lines of tiny.expected.tsv: ids, and the text that they encode. */
function expectedPieces(): [number[], string][] {
  const lines = data('tiny.expected.tsv').toString().trimEnd().split('\n');
  return lines.map((line) => {
    const [ids = '', text = ''] = line.split('\t');
    return [ids.split(' ').map(Number), text];
  });
}
