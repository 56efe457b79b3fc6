// The page in Firefox: another engine under everything, the same bits on top. Playwright cannot drive the Firefox that
// Debian ships; Puppeteer can, by the standard protocol for it.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join } from 'node:path';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { Translator } from '../../dist/node.js';
import { type Site, root } from './harness.js';
import { pageSite, text } from './page-harness.js';

let site: Site;
let browser: Browser;
let page: Page;
const heard: string[] = [];

beforeAll(async () => {
  site = await pageSite();
  const executablePath = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
  browser = await puppeteer.launch({ browser: 'firefox', executablePath });
  page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 800 });
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) heard.push(message.text());
  });
  page.on('pageerror', (error) => heard.push(String(error)));
  await page.goto(site.url());
});

afterAll(async () => {
  await browser.close();
  await site.stop();
});

const cardIs = (state: string) => page.waitForSelector(`#card[data-state="${state}"]`);
const textOf = (selector: string) => page.$eval(selector, (element) => element.textContent);

test('downloads, and translates to the bit as Node does', async () => {
  await cardIs('needed');
  await page.click('#card .primary');
  await cardIs('ready');
  await page.type('#source', text);
  await page.waitForFunction(
    () =>
      document.querySelectorAll('.sentence').length === 4 &&
      document.querySelector('#output')?.getAttribute('aria-busy') === 'false',
  );
  const translator = await Translator.create({ model: join(root, 'models/en-de/model.octavo') });
  expect(await textOf('#output')).toBe(await translator.translate(text, { beam: 4 }));
  translator.destroy();
  await page.screenshot({ path: join(root, 'build/screenshots/firefox.png') });
});

test('lights up what belongs together, and offers alternatives', async () => {
  await page.hover('.sentence');
  await page.waitForFunction(() => CSS.highlights.get('source-sentence')?.size === 1);
  await page.click('.sentence');
  await page.waitForSelector('#alternatives [role="menuitemradio"]:nth-of-type(2)');
  await page.screenshot({ path: join(root, 'build/screenshots/firefox-alternatives.png') });
  await page.keyboard.press('Escape');
});

test('opens and translates with the server gone', async () => {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const before = await textOf('#output');
  await site.stop();
  await page.reload();
  await cardIs('ready');
  await page.waitForFunction(
    (wanted) => document.querySelector('#output')?.textContent === wanted,
    {},
    before,
  );
  expect(heard).toEqual([]);
});
