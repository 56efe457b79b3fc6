// The page on a desktop, with the real model: from the first visit to choosing another translation.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type Site, launch, picture } from './harness.js';
import {
  cardIs,
  copied,
  download,
  expectAccessible,
  modelBytes,
  pageSite,
  settled,
  text,
  translate,
  translation,
  visit,
} from './page-harness.js';

let site: Site;
let browser: Browser;
let page: Page;
let heard: string[];

beforeAll(async () => {
  site = await pageSite();
  browser = await launch();
  ({ page, heard } = await visit(browser, site.url()));
});

afterAll(async () => {
  await browser.close();
  await site.stop();
});

test('a first visit says what will happen, and downloads nothing by itself', async () => {
  await cardIs(page, 'needed');
  const card = (await page.textContent('#card')) ?? '';
  expect(card).toContain('nothing that you write leaves this device');
  expect(card).toContain(`${(modelBytes / 1e6).toFixed(1)} MB`);
  expect(site.requests.filter(({ path }) => path.endsWith('.octavo'))).toEqual([]);
  await expectAccessible(page);
  await picture(page, 'first-visit');
});

test('the download leads to a translation of what has been written meanwhile', async () => {
  await page.fill('#source', text);
  await download(page);
  const translated = await translation(page);
  expect(translated.split('\n\n')).toHaveLength(2);
  expect(translated.length).toBeGreaterThan(text.length / 2);
  expect(await page.locator('.sentence').count()).toBe(4);
  expect(await page.textContent('#count')).toBe('158 characters');
  await expectAccessible(page);
  await picture(page, 'translated');
});

test('every request went to the page itself', async () => {
  const origins = await page.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin),
  );
  expect(origins.length).toBeGreaterThan(3);
  expect(new Set(origins)).toEqual(new Set([new URL(site.url()).origin]));
});

describe('while writing', () => {
  test('sentences that do not change stay in place, and so does the caret', async () => {
    await translate(page, 'This stays. This will change.');
    await page.evaluate(() => {
      const mutations: string[] = [];
      Object.assign(window, { mutations });
      const first = document.querySelector('.sentence');
      const seen = (list: MutationRecord[]) => {
        for (const { target, type } of list)
          if (first?.contains(target)) mutations.push(`${type} ${target.textContent ?? ''}`);
      };
      const options = { subtree: true, childList: true, characterData: true };
      new MutationObserver(seen).observe(document.querySelector('#output') ?? document.body, options);
    });
    await page.focus('#source');
    await page.evaluate(() => {
      const field = document.querySelector<HTMLTextAreaElement>('#source');
      field?.setSelectionRange(field.value.length - 1, field.value.length - 1);
    });
    let shortest = Infinity;
    for (const character of ' very much') {
      await page.keyboard.type(character, { delay: 60 });
      shortest = Math.min(shortest, ((await page.textContent('#output')) ?? '').length);
    }
    await settled(page);
    expect(await page.inputValue('#source')).toBe('This stays. This will change very much.');
    const caret = await page.evaluate(
      () => document.querySelector<HTMLTextAreaElement>('#source')?.selectionStart,
    );
    expect(caret).toBe('This stays. This will change very much'.length);
    expect(shortest).toBeGreaterThan(10); // never blank in between
    expect(await page.evaluate(() => (window as unknown as { mutations: string[] }).mutations)).toEqual([]);
  });

  test('work on an older text is stopped', async () => {
    const long = Array.from(
      { length: 3000 }, // half a minute of work
      (_, i) => `The number of this sentence is ${String(i)}, and it is long.`,
    );
    await page.fill('#source', long.join(' '));
    await page.waitForFunction(() => document.querySelectorAll('.sentence').length > 1);
    expect(await page.getAttribute('#output', 'aria-busy')).toBe('true');
    await picture(page, 'translating');
    const start = Date.now();
    const translated = await translate(page, 'Short.');
    expect(Date.now() - start).toBeLessThan(10_000);
    expect(await page.locator('.sentence').count()).toBe(1);
    expect(translated.length).toBeLessThan(40);
  });

  test('sentences appear one after the other', async () => {
    const sentences = Array.from(
      { length: 40 },
      (_, i) => `Here is a sentence with the number ${String(i)}.`,
    );
    await page.fill('#source', sentences.join(' '));
    await page.waitForFunction(() => {
      const count = document.querySelectorAll('.sentence').length;
      return count > 1 && count < 40;
    });
    await settled(page);
    expect(await page.locator('.sentence').count()).toBe(40);
  });

  test('an empty text has an empty translation', async () => {
    expect(await translate(page, '')).toBe('');
    expect(await page.isDisabled('#copy')).toBe(true);
  });

  test('text is text, whatever it looks like', async () => {
    await translate(page, '<img src=x onerror=alert(1)> The house is small. <b>bold</b>');
    expect(await page.locator('#output img, #output b, #mirror img').count()).toBe(0);
  });

  test('right-to-left text stays readable', async () => {
    await page.fill('#source', 'שלום עולם. This is a test.');
    await settled(page);
    const direction = await page.evaluate(
      () => getComputedStyle(document.querySelector('#source') ?? document.body).direction,
    );
    expect(direction).toBe('rtl');
    await picture(page, 'right-to-left');
  });
});

describe('sentences and words', () => {
  const highlighted = (name: string) =>
    page.evaluate((key) => {
      const ranges = [...(CSS.highlights.get(key) ?? [])] as StaticRange[];
      return ranges.map(({ startContainer, startOffset, endOffset }) =>
        (startContainer as Text).data.slice(startOffset, endOffset),
      );
    }, name);

  beforeAll(async () => {
    await translate(page, text);
  });

  test('a sentence of the translation lights up its source, a word the words that it comes from', async () => {
    const place = await page.evaluate(() => {
      const words = document.querySelectorAll('.sentence')[1]?.firstChild;
      const range = document.createRange();
      if (words) range.setStart(words, 5);
      if (words) range.setEnd(words, 6);
      const { left, top, height } = range.getBoundingClientRect();
      return [left + 2, top + height / 2] as const;
    });
    await page.mouse.move(...place);
    const [sentence = ''] = await highlighted('source-sentence');
    expect(sentence).toMatch(/^The weather .* garden\.$/);
    expect(await page.locator('.sentence.lit').count()).toBe(1);
    expect(await highlighted('target-words')).toHaveLength(1);
    const words = await highlighted('source-words');
    expect(words.length).toBeGreaterThan(0);
    for (const word of words) expect(sentence).toContain(word);
    await picture(page, 'aligned-words');
  });

  test('the whole of a word can be pointed at, to the end of its last letter', async () => {
    const { edges, word } = await page.evaluate(() => {
      const words = document.querySelectorAll('.sentence')[1]?.firstChild as Text;
      const [word = ''] = /^\p{L}+/u.exec(words.data) ?? [];
      const range = document.createRange();
      range.setStart(words, 0);
      range.setEnd(words, word.length);
      const { left, right, top, height } = range.getBoundingClientRect();
      return { edges: [left + 1, right - 1].map((x) => [x, top + height / 2] as const), word };
    });
    for (const edge of edges) {
      await page.mouse.move(...edge);
      expect(await highlighted('target-words')).toEqual([word]);
    }
  });

  test('the source lights up its translation', async () => {
    const box = await page.locator('#source').boundingBox();
    await page.mouse.move((box?.x ?? 0) + 80, (box?.y ?? 0) + 28);
    await page.waitForSelector('.sentence.lit');
    expect(await page.locator('.sentence').first().getAttribute('class')).toContain('lit');
    await page.mouse.move(5, 5);
    expect(await highlighted('source-sentence')).toEqual([]);
    expect(await page.locator('.sentence.lit').count()).toBe(0);
  });

  test('another translation can be chosen, and stays when the rest is edited', async () => {
    const sentence = page.locator('.sentence').first();
    const before = (await sentence.textContent()) ?? '';
    await sentence.click();
    await page.waitForSelector('#alternatives [role="menuitemradio"]:nth-of-type(2)');
    await expectAccessible(page);
    await picture(page, 'alternatives');
    const other = page.locator('#alternatives [role="menuitemradio"]').nth(1);
    const chosen = (await other.textContent()) ?? '';
    expect(chosen).not.toBe(before);
    await other.click();
    expect(await sentence.textContent()).toBe(chosen);
    expect(await page.evaluate(() => document.activeElement?.className)).toContain('sentence');
    await page.fill('#source', `${text} The end.`);
    await settled(page);
    expect(await sentence.textContent()).toBe(chosen);
    expect(await page.locator('.sentence').count()).toBe(5);
  });
});

test('copies, clears, and swaps only where there is a model', async () => {
  const translated = await translate(page, 'Good evening.');
  expect(await copied(page)).toBe(translated);
  expect(await page.getAttribute('#swap', 'aria-disabled')).toBe('true');
  await page.click('#swap', { force: true }); // it is there to say why
  expect(await page.textContent('#toasts')).toContain('no model for German → English');
  await expectAccessible(page);
  await picture(page, 'swap-not-available');
  expect(await page.inputValue('#source')).toBe('Good evening.');
  await page.click('#clear');
  expect(await translation(page)).toBe('');
  expect(await page.inputValue('#source')).toBe('');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('source');
  await page.keyboard.press('Control+z'); // by mistake, perhaps
  expect(await page.inputValue('#source')).toBe('Good evening.');
  expect(await translation(page)).toBe(translated);
});

test('with a model for the way back, swapping makes the translation the original', async () => {
  const { page: other } = await visit(browser, 'about:blank', { serviceWorkers: 'block' });
  // The list of models is in the page's code: one more is put into it, which nobody will download.
  await other.route('**/assets/page-*.js', async (route) => {
    const response = await route.fetch();
    const code = await response.text();
    const extra = `{source:'de',target:'en',name:'de-en',bytes:1,sha256:'${'0'.repeat(64)}',license:'',url:()=>location},`;
    const changed = code.replace(/\[(?=\{source:.en.,target:.de.)/, `[${extra}`);
    expect(changed).not.toBe(code);
    await route.fulfill({ response, body: changed });
  });
  await other.goto(site.url('/?to=de'));
  expect(await other.locator('#from option').allTextContents()).toEqual(['German', 'English']);
  await download(other);
  const translated = await translate(other, 'Good morning.');
  expect(await other.getAttribute('#swap', 'aria-disabled')).toBe('false');
  await other.click('#swap');
  expect(await other.inputValue('#from')).toBe('de');
  expect(await other.inputValue('#to')).toBe('en');
  expect(await other.inputValue('#source')).toBe(translated);
  await cardIs(other, 'needed');
  await other.click('#swap');
  await cardIs(other, 'ready');
  await other.context().close();
});

test('the page never complained', () => {
  expect(heard).toEqual([]);
});

test('takes a text and a language from the address, and takes the text out of it', async () => {
  for (const query of ['?text=Good%20night.&to=de', '#text=Good%20night.&to=de-AT']) {
    const { page: other } = await visit(browser, site.url(`/${query}`));
    expect(await other.inputValue('#source')).toBe('Good night.');
    expect(other.url()).toBe(site.url('/'));
    await other.context().close();
  }
  const { page: open } = await visit(browser, site.url('/'));
  await cardIs(open, 'needed');
  await open.goto(site.url('/#text=Once%20more.')); // which does not load it again
  await open.waitForFunction(
    () => document.querySelector<HTMLTextAreaElement>('#source')?.value === 'Once more.',
  );
  expect(open.url()).toBe(site.url('/'));
  await open.context().close();
  const { page: other } = await visit(browser, site.url('/?text=Hello&to=fr'));
  expect(await other.textContent('#toasts')).toContain('French');
  await other.context().close();
});
