// What can go wrong before there is a model, and getting rid of one.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Browser, type Page, chromium } from 'playwright-core';
import { type Site, launch, picture } from './harness.js';
import {
  cardIs,
  download,
  expectAccessible,
  modelBytes,
  modelPath,
  pageSite,
  translate,
  visit,
} from './page-harness.js';

let site: Site;
let browser: Browser;
let page: Page;
let heard: string[];

beforeAll(async () => {
  browser = await launch();
});

beforeEach(async () => {
  site = await pageSite();
  ({ page, heard } = await visit(browser, site.url()));
  await cardIs(page, 'needed');
});

afterEach(async () => {
  await page.context().close();
  await site.stop();
});

afterAll(async () => {
  await browser.close();
});

/** The ranges of the model that were asked for; an empty string where all of it was. */
const ranges = () => site.requests.filter(({ path }) => path === modelPath).map(({ range }) => range ?? '');

/** Waits until so many bytes have arrived; the figures are in megabytes. */
const arrived = (megabytes: string) =>
  page.waitForFunction(
    (shown) => document.querySelector('.figures')?.textContent.startsWith(shown),
    megabytes,
  );

test('a download shows its progress, can be cancelled, and goes on where it was', async () => {
  site.spoil(modelPath, { stallAfter: 4_000_000 });
  await page.click('#card .primary');
  await arrived('4.0 MB');
  const percent = String(Math.floor((100 * 4_000_000) / modelBytes));
  expect(await page.textContent('.figures')).toBe(
    `4.0 MB of ${(modelBytes / 1e6).toFixed(1)} MB · ${percent}%`,
  );
  await expectAccessible(page);
  await picture(page, 'downloading');
  await page.click('#card .plain');
  await cardIs(page, 'needed');
  expect(await page.textContent('#card .primary')).toMatch(/^Continue, \d\.\d MB to go$/);
  expect(await page.evaluate(() => document.activeElement?.closest('#card') !== null)).toBe(true);
  await picture(page, 'cancelled');
  await download(page);
  expect(ranges()).toEqual(['', 'bytes=4000000-']);
  expect((await translate(page, 'Good morning.')).length).toBeGreaterThan(3);
  expect(heard).toEqual([]);
});

test('a download that fails says so, and goes on after another try', async () => {
  const failure = { status: 500 };
  site.spoil(modelPath, { cutAfter: 3_000_000 }, failure, failure, failure, failure, failure, failure);
  await page.click('#card .primary');
  await cardIs(page, 'failed');
  expect(await page.textContent('#card [role="alert"]')).toContain('The download broke off');
  await expectAccessible(page);
  await picture(page, 'download-failed');
  site.spoil(modelPath);
  await download(page);
  expect(ranges().at(-1)).toMatch(/^bytes=[1-9]\d{5,}-$/);
});

test('a file with a wrong checksum is refused', async () => {
  site.spoil(modelPath, { wrongByte: true });
  await page.click('#card .primary');
  await cardIs(page, 'failed');
  expect(await page.textContent('#card')).toContain('checksum');
  await picture(page, 'wrong-checksum');
  await download(page);
  expect(ranges()).toEqual(['', '']);
});

test('a model that the server no longer has asks for a new version of the page', async () => {
  site.spoil(modelPath, { status: 404 });
  await page.click('#card .primary');
  await cardIs(page, 'failed');
  expect(await page.textContent('#card [role="alert"]')).toContain('no longer on the server');
  await expectAccessible(page);
  await picture(page, 'model-gone');
  expect(await page.textContent('#card .primary')).toBe('Reload');
  await Promise.all([page.waitForEvent('load'), page.click('#card .primary')]);
  await cardIs(page, 'needed');
  await download(page);
});

test('without space the model works, and the page says that it will not be kept', async () => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: site.url(''), quotaSize: 1_000_000 });
  await download(page);
  await page.waitForSelector('.toast');
  expect(await page.textContent('#toasts')).toContain('no space to keep the model');
  await picture(page, 'storage-full');
  expect((await translate(page, 'Good morning.')).length).toBeGreaterThan(3);
  await page.reload();
  await cardIs(page, 'needed');
});

test('a first visit without a network says what is missing', async () => {
  await page.context().setOffline(true);
  await page.click('#card .primary');
  await cardIs(page, 'failed');
  expect(await page.textContent('#card')).toContain('There is no connection');
  await picture(page, 'first-visit-offline');
});

test('a stored model has a size and a date, and can be deleted', async () => {
  await page.evaluate(() => {
    StorageManager.prototype.persist = () => {
      document.body.dataset.persists = 'asked';
      return Promise.resolve(true);
    };
  });
  await download(page);
  expect(await page.locator('body[data-persists]').count()).toBe(1); // it is to stay when space runs low
  await translate(page, 'Good morning.');
  await page.click('#open-models');
  await page.waitForSelector('dialog.models li button');
  const entry = (await page.textContent('dialog.models li')) ?? '';
  expect(entry).toContain('English → German');
  expect(entry).toContain(`${(modelBytes / 1e6).toFixed(1)} MB`);
  expect(entry).toContain(String(new Date().getFullYear()));
  await expectAccessible(page);
  await picture(page, 'models');
  await page.click('dialog.models li button');
  await page.waitForFunction(() => document.querySelector('dialog.models')?.textContent.includes('no model'));
  await picture(page, 'models-empty');
  await page.keyboard.press('Escape');
  await cardIs(page, 'needed');
  expect(await page.textContent('#output')).toBe('');
  await page.reload();
  await cardIs(page, 'needed');
  await download(page);
});

test('a browser without SIMD, and an address without https, get an explanation', async () => {
  const args = [
    '--js-flags=--no-enable-sse4-1',
    '--host-resolver-rules=MAP octavo.test 127.0.0.1',
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ];
  const old = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
  try {
    const visited = await visit(old, site.url());
    await cardIs(visited.page, 'unsupported');
    expect(await visited.page.textContent('#card')).toContain('WebAssembly with SIMD');
    await expectAccessible(visited.page);
    await picture(visited.page, 'no-simd');
    expect(visited.heard).toEqual([]);
    const { page: insecure } = await visit(old, site.url().replace('localhost', 'octavo.test'));
    await cardIs(insecure, 'insecure');
    expect(await insecure.textContent('#card')).toContain('https');
    await picture(insecure, 'insecure');
  } finally {
    await old.close();
  }
});
