// What the tests of the page share: opening it like a visitor, and doing what visitors do.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { Site, complaints, root } from './harness.js';

export const built = join(root, 'web/dist');

/** The path of the model on the site. */
export const modelPath = `/assets/${readdirSync(join(built, 'assets')).find((name) => name.endsWith('.octavo')) ?? ''}`;
export const modelBytes = readFileSync(join(built, modelPath)).length;

/** The page under its own path, with the strictest policy on top of the one that it brings. */
export const pageSite = () => new Site({ '/': built }).start();

export const text =
  'Good morning! The weather is beautiful today, and the children are playing in the garden.\n\n' +
  'Where is the train station? I would like to buy a ticket to Berlin.';

/** A new visitor, with a browser that has never seen the page. */
export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; heard: string[] }> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en',
    acceptDownloads: true,
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const heard = complaints(page);
  await page.goto(url);
  return { page, heard };
}

/** Waits until the card is in a state; `ready` when there is something that translates. */
export const cardIs = (page: Page, state: string) =>
  page.waitForSelector(`#card[data-state="${state}"]`, { state: 'attached' });

/** Downloads the model, as a first visitor does. */
export async function download(page: Page): Promise<void> {
  await page.click('#card .primary');
  await cardIs(page, 'ready');
}

/** A visitor who has the model. */
export async function visitReady(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const visited = await visit(browser, url, options);
  await download(visited.page);
  return visited;
}

/** Waits until nothing is being translated. */
export const settled = (page: Page) => page.waitForSelector('#output[aria-busy="false"]');

/** Everything that is shown as the translation, when it is complete. */
export async function translation(page: Page): Promise<string> {
  await settled(page);
  return (await page.textContent('#output')) ?? '';
}

export async function translate(page: Page, original: string): Promise<string> {
  await page.fill('#source', original);
  return translation(page);
}

/** Copies the translation, and returns what is on the clipboard when the page says so. */
export async function copied(page: Page, copy = () => page.click('#copy')): Promise<string> {
  await page.evaluate(() => document.querySelector('#status')?.replaceChildren());
  await copy();
  await page.waitForFunction(() => document.querySelector('#status')?.textContent.startsWith('Copied'));
  return page.evaluate(() => navigator.clipboard.readText());
}

interface Axe {
  run(
    context?: unknown,
    options?: unknown,
  ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Nothing on the page as it is now breaks WCAG 2.2 AA, as far as a machine can tell. */
export async function expectAccessible(page: Page): Promise<void> {
  // Colours are measured when they have arrived.
  await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)));
  await page.evaluate(axe); // by the debugger, which the page's policy does not concern
  const violations = await page.evaluate(async () => {
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const options = { runOnly: { type: 'tag', values: tags } };
    const found = await (window as unknown as { axe: Axe }).axe.run(document, options);
    return found.violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
    );
  });
  expect(violations).toEqual([]);
}

/** Nothing sticks out to the side. */
export async function expectNoSidewaysScrolling(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
}
