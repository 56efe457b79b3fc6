// The tiny model: random weights, so what it says is gibberish, but always the same gibberish.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The full path of a file of the repository. */
export const inRepository = (name: string): string =>
  fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** Makes the tiny model, and returns its path and bytes. */
export function tinyModel(): { path: string; bytes: Uint8Array<ArrayBuffer> } {
  const path = inRepository('build/reports/tiny-package.octavo');
  const own = `${path}.${String(process.pid)}`; // other test files do the same at the same time
  mkdirSync(inRepository('build/reports'), { recursive: true });
  const sources = ['json', 'spm', 'safetensors'].map((extension) =>
    inRepository(`tests/data/tiny.${extension}`),
  );
  const [config = '', vocabulary = '', weights = ''] = sources;
  const args = ['quantize', weights, '-o', own, '--config', config, '--vocabulary', vocabulary];
  execFileSync(inRepository('build/native/octavo'), args, { stdio: 'ignore' });
  renameSync(own, path);
  return { path, bytes: new Uint8Array(readFileSync(path)) };
}

/** A directory for one test, and the means to delete it. */
export function temporaryDirectory(): { path: string; delete: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'octavo-test-'));
  return {
    path,
    delete: () => {
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** The error that a promise is rejected with; fails if it is not. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error: error as Error }),
  );
  if ('error' in outcome) return outcome.error;
  throw new Error(`should have been rejected, but is ${JSON.stringify(outcome.value)}`);
}
