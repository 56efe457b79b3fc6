// Writes tests/data/golden.json anew after a change of the model or, on purpose, of the arithmetic: npm run golden.
//
// Each hash covers a translation, the log-probability of each of its pieces (which depends on every logit) and the integers of
// its alignment. Whoever runs the same model on the same text gets the same hashes, on any machine.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, main, root, runQuietly, say } from './shell.mjs';

const model = join(root, 'models/en-de/model.octavo');

/** The sentences: real strings, without the marks that another test needs. */
export const goldenSentences = () =>
  readFileSync(join(root, 'tests/data/pass-through.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace(/[‹›]/g, ''));

/** The hash of a segment as the engine returns it. */
export function goldenHash({ alternatives: [{ text, tokenScores, alignment }] }) {
  return createHash('sha256')
    .update(text)
    .update(new Uint8Array(Float32Array.from(tokenScores).buffer))
    .update(new Uint8Array(Int32Array.from([...alignment].flat()).buffer))
    .digest('hex')
    .slice(0, 16);
}

/** What the native tool makes of the sentences, with some kernel. */
export function nativeHashes(kernel, batch = 64, sentences = goldenSentences()) {
  const args = [
    'translate',
    model,
    '--json',
    '--scores',
    '--alignment',
    '--kernel',
    kernel,
    '--batch',
    `${batch}`,
  ];
  const output = runQuietly(join(root, 'build/native/octavo'), args, { input: `${sentences.join('\n')}\n` });
  return output
    .trimEnd()
    .split('\n')
    .map((line) => goldenHash(JSON.parse(line)));
}

if (isMain(import.meta)) {
  await main(() => {
    const sha256 = createHash('sha256').update(readFileSync(model)).digest('hex');
    const hashes = nativeHashes('simd128');
    writeFileSync(
      join(root, 'tests/data/golden.json'),
      `${JSON.stringify({ model: sha256, hashes }, null, 1)}\n`,
    );
    say(`   ${hashes.length} sentences`);
  });
}
