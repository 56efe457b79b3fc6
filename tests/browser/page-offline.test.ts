// The page without a network, under any path, and quick to open.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { Site, launch, picture } from './harness.js';
import { tinyModel } from '../package/tiny-model.js';
import { built, cardIs, download, settled, text, translate, visit } from './page-harness.js';

let site: Site;
let browser: Browser;
let page: Page;
let heard: string[];

const path = '/some/where/';
const tiny = tinyModel();

beforeAll(async () => {
  site = await new Site({ [path]: built }).start();
  browser = await launch();
  ({ page, heard } = await visit(browser, site.url(path)));
  await download(page);
});

afterAll(async () => {
  await browser.close();
  await site.stop();
});

test('opens and translates with the server gone', async () => {
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const online = await translate(page, text);
  await site.stop();
  await page.reload();
  await cardIs(page, 'ready');
  expect(await translate(page, text)).toBe(online);
  await page.click('#hood summary'); // what is loaded late is there, too
  await page.waitForSelector('.hood');
  await page.context().setOffline(true);
  expect(await page.textContent('#promise')).toContain('You are offline');
  await picture(page, 'offline');
  await page.context().setOffline(false);
  await page.goto(site.url(`${path}?text=Good%20night.&to=de`)); // shared from another app, in an aeroplane
  await cardIs(page, 'ready');
  await settled(page);
  expect(await page.inputValue('#source')).toBe('Good night.');
  await site.start();
  expect(heard).toEqual([]);
});

test('an older model does, until there is a network for the new one', async () => {
  const { page: old } = await visit(browser, site.url(path));
  await download(old);
  await old.evaluate(() => navigator.serviceWorker.ready);
  const { sha256 } = tiny.entry;
  // As if the page had brought another model since the last visit.
  await old.evaluate(
    async ({ bytes, hash }) => {
      const cache = await caches.open('octavo');
      const [request] = (await cache.keys()).filter(({ url }) => url.includes('/model-'));
      const response = request && (await cache.match(request));
      if (!response) throw new Error('There is no model.');
      const note = JSON.parse(decodeURIComponent(response.headers.get('Octavo-Note') ?? '')) as object;
      const headers = {
        'Content-Length': String(bytes.length),
        'Octavo-Note': encodeURIComponent(JSON.stringify({ ...note, sha256: hash })),
      };
      await cache.put(
        request.url.replace(/model-.*/, `model-${hash}`),
        new Response(new Uint8Array(bytes), { headers }),
      );
      await cache.delete(request);
    },
    { bytes: [...tiny.bytes], hash: sha256 },
  );
  await old.context().setOffline(true);
  await old.reload();
  await cardIs(old, 'ready');
  expect(await translate(old, 'The house is small.')).not.toBe('');
  await old.context().setOffline(false);
  await old.reload();
  await cardIs(old, 'needed');
  await download(old);
  expect(await old.evaluate(async () => (await (await caches.open('octavo')).keys()).length)).toBe(1);
  await old.context().close();
});

test('a later visit is ready within a second', async () => {
  await page.goto(site.url(path));
  await cardIs(page, 'ready');
  let best = Infinity; // a busy machine may need several attempts to show what it can do
  for (let i = 0; i < 8 && best >= 1000; ++i) {
    await page.reload();
    await cardIs(page, 'ready');
    best = Math.min(best, await page.evaluate(() => performance.now()));
  }
  expect(best).toBeLessThan(1000);
});

test('nothing moves while the page appears', async () => {
  await page.addInitScript(() => {
    const shifts: number[] = [];
    Object.assign(window, { shifts });
    const seen = (list: PerformanceObserverEntryList) => {
      for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
    };
    new PerformanceObserver(seen).observe({ type: 'layout-shift', buffered: true });
  });
  await page.reload();
  await cardIs(page, 'ready');
  await page.waitForTimeout(300);
  const shifts = await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts);
  expect(shifts.reduce((sum, shift) => sum + shift, 0)).toBeLessThan(0.01);
});

test('can be installed: a manifest, icons of the promised sizes, a share target', async () => {
  const devtools = await page.context().newCDPSession(page);
  const { errors, data } = await devtools.send('Page.getAppManifest');
  expect(errors).toEqual([]);
  const manifest = JSON.parse(data ?? '') as {
    icons: { src: string; sizes: string; purpose?: string }[];
    share_target: { params: { text: string } };
  };
  const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors');
  // A window like those that tests use cannot install anything; everything else must be right.
  expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual(
    [],
  );
  expect(manifest.share_target.params.text).toBe('text');
  expect(manifest.icons.some(({ purpose }) => purpose === 'maskable')).toBe(true);
  for (const { src, sizes } of manifest.icons.filter((icon) => icon.src.endsWith('.png'))) {
    const width = readFileSync(join(built, src)).readUInt32BE(16);
    expect(`${String(width)}x${String(width)}`).toBe(sizes);
  }
});

test('the policy of the page is strict, and brotli lies beside the files', () => {
  const html = readFileSync(join(built, 'index.html'), 'utf8');
  expect(html).toContain("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'");
  expect(html).not.toMatch(/unsafe-inline|unsafe-eval'[^;]*unsafe|<script>|style="/);
  expect(html).not.toMatch(/https?:\/\//);
  for (const file of ['index.html', 'service-worker.js', 'manifest.webmanifest']) {
    expect(existsSync(join(built, `${file}.br`))).toBe(true);
    expect(brotliDecompressSync(readFileSync(join(built, `${file}.br`)))).toEqual(
      readFileSync(join(built, file)),
    );
  }
});

test('a new version waits until the reader wants it', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'octavo-page-'));
  cpSync(built, copy, { recursive: true });
  const own = await new Site({ '/': copy }).start();
  const { page: open } = await visit(browser, own.url());
  await open.evaluate(() => navigator.serviceWorker.ready);
  const other = await open.context().newPage();
  await other.goto(own.url());
  await cardIs(other, 'needed');
  appendFileSync(join(copy, 'service-worker.js'), '\n// a new version');
  await open.reload();
  await open.waitForSelector('.toast');
  expect(await open.textContent('.toast')).toContain('new version');
  await Promise.all([open.waitForEvent('load'), open.click('.toast .plain')]);
  await cardIs(open, 'needed');
  expect(await open.locator('.toast').count()).toBe(0);
  // Another tab is still the old version, whose parts may be gone: it says so even to those who have waved it away.
  await other.bringToFront();
  await other.waitForSelector('.toast');
  await Promise.all([other.waitForEvent('load'), other.click('.toast .plain')]);
  await cardIs(other, 'needed');
  await open.context().close();
  await own.stop();
  rmSync(copy, { recursive: true });
});
