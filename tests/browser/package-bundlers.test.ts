// Apps that bundlers have built without configuration (.ci/bundlers.mjs) translate, under the strictest policy.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { Translator } from '../../dist/node.js';
import { realModel } from '../package/real-model.js';
import { Site, complaints, launch, root, strictPolicy } from './harness.js';

const apps = join(root, 'build/bundlers/apps');
let browser: Browser;
let expected: string;

beforeAll(async () => {
  if (!existsSync(apps)) throw new Error('The apps are not built: npm test -- bundlers');
  browser = await launch();
  const translator = await Translator.create({ model: realModel });
  expected = await translator.translate('Good morning! The house costs 42 euros.');
  translator.destroy();
});
afterAll(() => browser.close());

/** The policy with the hashes of the scripts that Next writes into its pages; it has no others inline. */
function policyWithHashes(page: string): string {
  const scripts = readFileSync(page, 'utf8').matchAll(/<script(?: id="\w+")?>([^]*?)<\/script>/g);
  const hashes = Array.from(
    scripts,
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return strictPolicy.replace("script-src 'self'", `script-src 'self' ${hashes.join(' ')}`);
}

/** Where the files of an app are, by the prefixes of their addresses. */
const directoriesOf = (name: string) =>
  name === 'next'
    ? {
        '/': join(apps, 'next/.next/server/app'),
        '/_next/static/': join(apps, 'next/.next/static'),
        '/icon.svg': join(apps, 'webpack/icon.svg'),
      }
    : { '/': join(apps, name) };

test.each(['vite', 'webpack', 'rollup', 'esbuild', 'esbuild-modules', 'next'])('%s', async (name) => {
  const isNext = name === 'next';
  const policy = isNext ? policyWithHashes(join(apps, 'next/.next/server/app/index.html')) : strictPolicy;
  const site = await new Site(directoriesOf(name), { 'Content-Security-Policy': policy }).start();
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const heard = complaints(page);
    await page.goto(site.url());
    const isThere = (text: string) => document.querySelector('output')?.textContent === text;
    await page.waitForFunction(isThere, expected, { timeout: 20_000 }).catch(() => undefined);
    expect({ heard, text: await page.textContent('output') }).toEqual({ heard: [], text: expected });
    // One model, one engine: nothing is loaded that is not needed, and nothing twice.
    const loaded = site.requests.map(({ path }) => path);
    expect(loaded.filter((path) => path.endsWith('.octavo'))).toHaveLength(1);
    expect(loaded.filter((path) => path.endsWith('.wasm'))).toHaveLength(1);
  } finally {
    await context.close();
    await site.stop();
  }
});

test("Vite's development server", async () => {
  const home = readFileSync(join(root, 'build/bundlers/home'), 'utf8');
  const vite = spawn(join(home, 'node_modules/.bin/vite'), ['app', '--port', '5211', '--host', '127.0.0.1'], {
    cwd: home,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => vite.on('exit', resolve));
  const context = await browser.newContext();
  try {
    let said = '';
    const url = await new Promise<string>((resolve) => {
      vite.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += stripVTControlCharacters(text);
        const address = /http:\/\/127\.0\.0\.1:\d+\//.exec(said)?.[0];
        if (address) resolve(address);
      });
    });
    const page = await context.newPage();
    await page.goto(url);
    const isThere = (text: string) => document.querySelector('output')?.textContent === text;
    await page.waitForFunction(isThere, expected, { timeout: 30_000 }).catch(() => undefined);
    expect(await page.textContent('output')).toBe(expected);
    expect(said).not.toMatch(/warn|error|sourcemap/i);
  } finally {
    await context.close();
    vite.kill();
    await ended;
  }
});
