// Claims of SECURITY.md that can be read off the files themselves.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadEngine } from '../../dist/index.js';
import { inRepository } from './tiny-model.js';

const filesIn = (directory: string, pattern: RegExp): string[] =>
  readdirSync(inRepository(directory), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name) && !name.includes('node_modules'))
    .map((name) => join(inRepository(directory), name));
const offenders = (files: string[], pattern: RegExp): string[] =>
  files.filter((file) => pattern.test(readFileSync(file, 'utf8')));

test('nothing that is published makes code of strings', () => {
  const scripts = filesIn('dist', /\.(js|cjs|mjs)$/);
  expect(scripts.length).toBeGreaterThan(10);
  expect(
    offenders(scripts, /\beval\s*\(|\bnew Function\b|\bFunction\s*\(['"`]|set(Timeout|Interval)\(['"`]/),
  ).toEqual([]);
});

test('no source writes markup into a document', () => {
  const sources = [...filesIn('bindings/src', /\.ts$/), ...filesIn('web/src', /\.ts$/)];
  const sinks =
    /\.(innerHTML|outerHTML|srcdoc)\s*=|insertAdjacentHTML|document\.write|createContextualFragment|setHTMLUnsafe|parseFromString/;
  expect(sources.length).toBeGreaterThan(40);
  expect(offenders(sources, sinks)).toEqual([]);
});

test('the package depends on nothing, and the lock file names no host', () => {
  const manifest = JSON.parse(readFileSync(inRepository('dist/package.json'), 'utf8')) as object;
  expect(manifest).not.toHaveProperty('dependencies');
  expect(manifest).not.toHaveProperty('scripts'); // nothing runs on installation
  expect(readFileSync(inRepository('package-lock.json'), 'utf8')).not.toMatch(/"resolved":/);
});

test.each(['package-lock.json', 'tests/bundlers/package-lock.json'])(
  'every package of %s is pinned by a hash, and comes from no host of its own',
  (name) => {
    const { packages } = JSON.parse(readFileSync(inRepository(name), 'utf8')) as {
      packages: Record<string, { link?: boolean; integrity?: string; resolved?: string }>;
    };
    const installed = Object.entries(packages).filter(([path, { link }]) => path !== '' && !link);
    expect(installed.length).toBeGreaterThan(50);
    const unpinned = installed.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
    expect(unpinned.map(([path]) => path)).toEqual([]);
    const hosted = installed.filter(([, { resolved }]) => /^\w+:\/\//.test(resolved ?? ''));
    expect(hosted.map(([path]) => path)).toEqual([]);
  },
);

test('the engine asks the network for nothing', async () => {
  const asked: unknown[] = [];
  const { fetch } = globalThis;
  globalThis.fetch = (address) => {
    asked.push(address);
    return Promise.reject(new Error('no network'));
  };
  try {
    const { module } = await loadEngine();
    expect(module.version()).toMatch(/^\d/);
  } finally {
    globalThis.fetch = fetch;
  }
  expect(asked).toEqual([]);
});
