// The interface: history, themes, languages, phones, keyboard, and whether everybody can use it.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type Site, launch, picture } from './harness.js';
import {
  cardIs,
  copied,
  expectAccessible,
  expectNoSidewaysScrolling,
  pageSite,
  settled,
  text,
  translate,
  translation,
  visit,
  visitReady,
} from './page-harness.js';

let site: Site;
let browser: Browser;
let page: Page;
let heard: string[];

beforeAll(async () => {
  site = await pageSite();
  browser = await launch();
  ({ page, heard } = await visitReady(browser, site.url()));
});

afterAll(async () => {
  await browser.close();
  await site.stop();
});

test('the history keeps what rested, finds it, brings it back, and forgets it', async () => {
  const remembered = (count: number) =>
    page.waitForFunction(
      (wanted) => (JSON.parse(localStorage.getItem('octavo.history') ?? '[]') as unknown[]).length === wanted,
      count,
    );
  const first = await translate(page, 'The cat sleeps.');
  await remembered(1);
  await translate(page, 'The cat sleeps. The dog barks.'); // a continuation takes the place of its beginning
  await page.waitForFunction(() => localStorage.getItem('octavo.history')?.includes('barks'));
  await translate(page, 'A very different text.');
  await remembered(2);
  await page.click('#open-history');
  expect(await page.locator('.entries .entry').count()).toBe(2);
  await expectAccessible(page);
  await picture(page, 'history');
  // Said inside of the dialog: nothing else is read out while it is open.
  const said = () => page.textContent('dialog [role="status"]');
  await page.fill('dialog input[type="search"]', 'CAT barks');
  expect(await page.locator('.entries .entry').count()).toBe(1);
  expect(await said()).toBe('1 found');
  await page.fill('dialog input[type="search"]', 'nowhere');
  expect(await page.textContent('.entries')).toContain('Nothing found');
  expect(await said()).toBe('Nothing found.');
  await page.fill('dialog input[type="search"]', 'cat');
  await page.click('.entries .entry');
  expect(await translation(page)).toContain(first);
  await page.click('#open-history');
  await page.click('dialog footer button');
  expect(await page.evaluate(() => localStorage.getItem('octavo.history'))).toBeNull();
  await page.uncheck('#keep-history');
  await page.keyboard.press('Escape');
  await translate(page, 'Nobody will remember this.');
  await page.waitForTimeout(2700);
  expect(await page.evaluate(() => localStorage.getItem('octavo.history'))).toBeNull();
});

test('a long history leaves its search and its foot in sight', async () => {
  await page.evaluate(() => {
    const entry = { source: 'en', target: 'de', text: 'The cat sleeps.', translation: 'Die Katze schläft.' };
    const entries = Array.from({ length: 200 }, (_, time) => ({ ...entry, time }));
    localStorage.setItem('octavo.history', JSON.stringify(entries));
  });
  await page.click('#open-history');
  await page.locator('.entries .entry').last().scrollIntoViewIfNeeded();
  const { height } = page.viewportSize() ?? { height: 0 };
  for (const part of ['input[type="search"]', 'footer button', 'header button']) {
    const box = await page.locator(`dialog ${part}`).boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThan(height);
  }
  await picture(page, 'history-long');
  await page.click('dialog footer button');
  await page.keyboard.press('Escape');
});

test('the same message twice is a message twice', async () => {
  const said: string[] = [];
  await page.exposeFunction('heard', (message: string) => said.push(message.trim()));
  await page.evaluate(() => {
    const status = document.querySelector('#status');
    const tell = () => {
      (window as unknown as { heard: (text: string) => void }).heard(status?.textContent ?? '');
    };
    new MutationObserver(tell).observe(status ?? document.body, { childList: true });
  });
  await translate(page, 'The first.');
  await translate(page, 'The second.');
  await page.waitForFunction(() => document.querySelector('#status')?.textContent.startsWith('Translation'));
  expect(said.filter((message) => message === 'Translation is ready.').length).toBeGreaterThanOrEqual(2);
});

test('light and dark: as the system, or as chosen, and without violations', async () => {
  await translate(page, text);
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await ground();
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await ground();
  expect(dark).not.toBe(light);
  await expectAccessible(page);
  await picture(page, 'dark');
  await page.click('#theme');
  expect(await ground()).toBe(light);
  await page.reload();
  await cardIs(page, 'ready');
  expect(await ground()).toBe(light); // remembered
  expect(await page.inputValue('#source')).toBe(text); // and nothing that was written is lost
  await page.click('#theme');
  await page.emulateMedia({ colorScheme: 'light' });
  expect(await ground()).toBe(dark);
  for (const name of ['history', 'models', 'help']) {
    await page.click(`#open-${name}`);
    await expectAccessible(page);
    await picture(page, `dark-${name}`);
    await page.keyboard.press('Escape');
  }
  await page.click('#theme');
  expect(await ground()).toBe(light);
  await page.click('#open-help');
  await expectAccessible(page);
  await picture(page, 'shortcuts');
  await page.keyboard.press('Escape');
});

test('under the hood', async () => {
  await translate(page, text);
  await page.click('#hood summary');
  await page.waitForSelector('.hood');
  await page.locator('.hood').scrollIntoViewIfNeeded();
  await page.fill('#source', `${text} One more sentence.`);
  await settled(page);
  await page.waitForFunction(() => document.querySelector('.hood canvas, .hood svg, .hood table') !== null);
  await page.waitForTimeout(1500); // it draws when nobody types
  // It has read the very translation that is on the page.
  const pieces = await page.locator('.hood th[scope="row"]').allTextContents();
  const shown = pieces.slice(0, -1).map((piece) => piece.replace(/^·/u, ''));
  expect(shown.join('')).toBe((await page.locator('.sentence').last().textContent())?.replaceAll(' ', ''));
  await expectAccessible(page);
  await page.locator('#hood').screenshot({ path: 'build/screenshots/hood.png' });
  await page.click('#hood summary');
});

test('speaks German, at once and by itself', async () => {
  await page.selectOption('#interface', 'de');
  expect(await page.textContent('#open-history')).toContain('Verlauf');
  expect(await page.getAttribute('html', 'lang')).toBe('de');
  expect(await page.locator('#from option').first().textContent()).toBe('Englisch');
  await picture(page, 'german');
  await page.selectOption('#interface', 'en');
  const { page: german, heard: complaintsInGerman } = await visit(browser, site.url(), { locale: 'de-AT' });
  await cardIs(german, 'needed');
  expect(await german.textContent('#card')).toContain('verlässt dieses Gerät');
  expect(await german.textContent('#card .primary')).toMatch(/^\d+,\d MB herunterladen$/);
  await expectAccessible(german);
  await picture(german, 'first-visit-german');
  expect(complaintsInGerman).toEqual([]);
  await german.context().close();
});

test('a phone of 360 pixels: nothing sticks out, everything is large enough to touch', async () => {
  const options = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
  const { page: phone, heard: complaintsOnPhone } = await visit(browser, site.url(), options);
  await cardIs(phone, 'needed');
  await expectNoSidewaysScrolling(phone);
  await picture(phone, 'phone-first-visit');
  await phone.click('#card .primary');
  await cardIs(phone, 'ready');
  await translate(phone, text);
  await expectNoSidewaysScrolling(phone);
  await expectAccessible(phone);
  await picture(phone, 'phone');
  const small = await phone.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('button, select, summary')]
      .filter((element) => element.checkVisibility())
      .filter(({ offsetWidth, offsetHeight }) => offsetWidth < 44 || offsetHeight < 44)
      .map(({ id, offsetWidth, offsetHeight }) => `${id} ${String(offsetWidth)}×${String(offsetHeight)}`),
  );
  expect(small).toEqual([]);
  await phone.locator('.sentence').first().tap();
  await phone.waitForSelector('#alternatives [role="menuitemradio"]');
  await expectNoSidewaysScrolling(phone);
  await picture(phone, 'phone-alternatives');
  await phone.keyboard.press('Escape');
  for (const name of ['history', 'models']) {
    await phone.click(`#open-${name}`);
    await expectNoSidewaysScrolling(phone);
    await picture(phone, `phone-${name}`);
    await phone.keyboard.press('Escape');
  }
  await phone.selectOption('#interface', 'de');
  await expectNoSidewaysScrolling(phone);
  await picture(phone, 'phone-german');
  expect(complaintsOnPhone).toEqual([]);
  await phone.context().close();
});

test('at 320 pixels, or at four times the size, nothing is lost', async () => {
  await page.setViewportSize({ width: 320, height: 256 });
  for (const language of ['de', 'en']) {
    await page.selectOption('#interface', language);
    await expectNoSidewaysScrolling(page);
    await picture(page, `narrow-${language}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

test('a tablet', async () => {
  await page.setViewportSize({ width: 768, height: 1024 });
  await expectNoSidewaysScrolling(page);
  await picture(page, 'tablet');
  await page.setViewportSize({ width: 1280, height: 800 });
});

test('everything can be done with the keyboard alone', async () => {
  const { page: desk } = await visit(browser, site.url());
  await cardIs(desk, 'needed');
  const focused = () => desk.evaluate(() => document.activeElement?.id ?? '');
  const tabTo = async (selector: string) => {
    for (let i = 0; i < 30; ++i) {
      if (await desk.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
      await desk.keyboard.press('Tab');
    }
    throw new Error(`Tab does not lead to ${selector}.`);
  };
  expect(await focused()).toBe('source');
  await tabTo('#card .primary');
  await desk.keyboard.press('Enter');
  await cardIs(desk, 'ready');
  expect(await focused()).toBe('source');
  await desk.keyboard.type('The weather is beautiful today. The children play.');
  await settled(desk);
  await tabTo('.sentence');
  await desk.waitForSelector('.sentence.lit');
  await desk.keyboard.press('ArrowRight');
  expect(await desk.evaluate(() => CSS.highlights.get('target-words')?.size)).toBe(1);
  await picture(desk, 'keyboard-word');
  await desk.keyboard.press('ArrowDown');
  expect(
    await desk.evaluate(() => document.activeElement === document.querySelectorAll('.sentence')[1]),
  ).toBe(true);
  await desk.keyboard.press('Enter');
  await desk.waitForSelector('#alternatives :focus');
  await desk.keyboard.press('ArrowDown');
  await desk.keyboard.press('Escape');
  expect(await desk.evaluate(() => document.activeElement?.className)).toContain('sentence');
  await desk.keyboard.press('Escape');
  expect(await focused()).toBe('source');
  await desk.keyboard.press('Alt+Shift+KeyK');
  await desk.waitForSelector('dialog.help');
  await desk.keyboard.press('Escape');
  expect(await focused()).toBe('source');
  expect(await copied(desk, () => desk.keyboard.press('Alt+Shift+KeyC'))).toBe(
    await desk.textContent('#output'),
  );
  await desk.keyboard.press('Alt+Shift+KeyU');
  await desk.waitForSelector('#hood[open]');
  await desk.keyboard.press('Alt+Shift+Backspace');
  expect(await desk.inputValue('#source')).toBe('');
  await desk.context().close();
});

test('nothing moves for those who do not want it', async () => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const longest = await page.evaluate(() =>
    Math.max(
      ...[...document.querySelectorAll('*')].flatMap((element) =>
        getComputedStyle(element)
          .transitionDuration.split(',')
          .map((value) => parseFloat(value)),
      ),
    ),
  );
  expect(longest).toBeLessThanOrEqual(0.001);
  expect(heard).toEqual([]);
});
