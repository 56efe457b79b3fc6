// The examples for plain pages, as somebody would serve them.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { Site, complaints, launch, root } from './harness.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

/** Opens an example with the package beside it; it must not complain, but for the icon that it does not have. */
async function withExample(name: string, work: (page: Page) => Promise<void>) {
  const directories = { '/': join(root, 'bindings/examples', name), '/octavo/': join(root, 'dist') };
  const site = await new Site(directories).start();
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const heard = complaints(page);
    await page.goto(site.url());
    await work(page);
    expect(heard.filter((complaint) => !complaint.includes('404'))).toEqual([]);
    expect(site.requests.map(({ path }) => path)).toContain('/octavo/models/en-de/model.octavo');
  } finally {
    await context.close();
    await site.stop();
  }
}

test('browser', () =>
  withExample('browser', async (page) => {
    await page.fill('textarea', 'The first house costs 42 euros. Open {file} again?');
    await page.click('button');
    await page.waitForFunction(() => document.querySelector('output')?.textContent.includes('{file}'));
    expect(await page.textContent('output')).toContain('42');
    expect(await page.locator('progress').isHidden()).toBe(true);
  }));

test('worker', () =>
  withExample('worker', async (page) => {
    await page.waitForSelector('body[data-state=done]');
    const items = await page.locator('li').allTextContents();
    expect(items).toEqual([
      expect.any(String),
      expect.stringContaining('{file}'),
      expect.stringMatching(/\b10[:.]30 Uhr\b/), // German writes a time with either
    ]);
    expect(items[0]).not.toBe('The house is small.');
  }));
