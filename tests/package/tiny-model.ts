// The tiny model: random weights, so what it says is gibberish, but always the same gibberish.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FaultServer } from './fault-server.js';

/** The full path of a file of the repository. */
export const inRepository = (name: string): string =>
  fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** Makes the tiny model, and returns its path, its bytes, and what a registry says of it. */
export function tinyModel() {
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
  const bytes = new Uint8Array(readFileSync(path));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const languages = { source: 'en', target: 'de' };
  const entry = {
    ...languages,
    name: 'tiny',
    file: 'tiny.octavo',
    bytes: bytes.length,
    sha256,
    license: 'MIT',
  };
  return { path, bytes, entry };
}

/** A registry with one model. */
export const registryOf = (entry: object): string => JSON.stringify({ version: 1, models: [entry] });

/** A server with the tiny model, and a registry of it at /registry.json. */
export async function tinyServer({ bytes, entry }: ReturnType<typeof tinyModel>): Promise<FaultServer> {
  const server = await new FaultServer().start();
  server.put('/registry.json', registryOf(entry));
  server.put('/tiny.octavo', bytes);
  return server;
}

/** The plainest search, as the engine wants to be asked. */
export const greedySearch = {
  beam: 1,
  alternatives: 1,
  lengthPenalty: 1,
  maxLengthFactor: 2,
  maxLengthExtra: 16,
  loopPhrase: 16,
  scores: false,
  alignment: false,
};

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
