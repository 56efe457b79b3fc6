// The package in Firefox, which no driver of ours can steer: it opens a page that checks the package and reports.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Translator } from '../../dist/node.js';
import { fiftyTexts, hashOf, realModel } from '../package/real-model.js';
import { Site, root } from './harness.js';

const firefox = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
// One paragraph each: the checks put them together again.
const texts = fiftyTexts.map((text) => text.trim().replaceAll(/\s*\n\s*(- )?/g, ' '));

/** Opens an address in a Firefox of its own until the work is done. */
async function withFirefox<T>(url: string, work: () => Promise<T>): Promise<T> {
  const profile = mkdtempSync(join(tmpdir(), 'octavo-firefox-'));
  const args = ['--headless', '--no-remote', '--profile', profile, url];
  const child = spawn(firefox, args, { stdio: 'ignore', env: { ...process.env, HOME: profile } });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  try {
    return await work();
  } finally {
    child.kill();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function reportOf(site: Site): Promise<unknown> {
  for (;;) {
    const path = site.requests.map((request) => request.path).find((one) => one.startsWith('/report/'));
    if (path) return JSON.parse(Buffer.from(path.slice('/report/'.length), 'hex').toString());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// Set-up installs Chromium, not Firefox: where there is none, there is nothing to test.
(existsSync(firefox) ? test : test.skip)(
  'Firefox translates as Node does, streams, aborts, keeps the model, and works on a document',
  async () => {
    const node = await Translator.create({ model: realModel });
    const expected = hashOf(await node.translateBatch(texts));
    node.destroy();
    const directory = mkdtempSync(join(tmpdir(), 'octavo-site-'));
    writeFileSync(join(directory, 'texts.json'), JSON.stringify(texts));
    const site = await new Site({
      '/': directory,
      '/firefox/': join(root, 'tests/browser/firefox'),
      '/octavo/': join(root, 'dist'),
    }).start();
    try {
      expect(await withFirefox(site.url('/firefox/'), () => reportOf(site))).toEqual({
        progress: [0, 1],
        hash: expected,
        streamed: true,
        aborted: 'AbortError',
        kernel: expect.stringMatching(/fused|relaxed|simd128/),
        sameNode: true,
        kept: true,
        second: true,
        stored: ['en-de'],
        afterwards: 'InvalidStateError',
        isolated: false,
      });
      const models = site.requests.filter(({ path }) => path.endsWith('.octavo'));
      expect(models).toHaveLength(1);
    } finally {
      await site.stop();
      rmSync(directory, { recursive: true });
    }
  },
  120_000,
);
