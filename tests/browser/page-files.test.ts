// Files: opened, dropped, translated with their structure kept, and saved.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { type Site, launch, picture } from './harness.js';
import {
  built,
  cardIs,
  copied,
  download,
  expectAccessible,
  pageSite,
  settled,
  translate,
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

const open = (name: string, content: string | Buffer) =>
  page.setInputFiles('#file', { name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) });

/** Opens a text file, and waits until it is the text to translate. */
async function openText(name: string, content: string) {
  await open(name, content);
  const text = content.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  await page.waitForFunction(
    (expected) => document.querySelector<HTMLTextAreaElement>('#source')?.value === expected,
    text,
  );
}

/** Presses the button, and returns the name and content of the file that is saved. */
async function saved(selector: string) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(selector)]);
  return { name: download.suggestedFilename(), content: readFileSync(await download.path(), 'utf8') };
}

test('a text file becomes the text, and its translation is saved', async () => {
  await openText('note.txt', 'The house is small.\n\nThe garden is large.\n');
  await settled(page);
  const { name, content } = await saved('#save');
  expect(name).toBe('note.de.txt');
  expect(content).toBe(await page.textContent('#output'));
  expect(content).toMatch(/^\S.+\n\n\S.+\n$/);
});

test("a text file's line ends and byte order mark come back", async () => {
  await openText('windows.txt', '\uFEFFThe house is small.\r\n\r\nThe garden is large.\r\n');
  await settled(page);
  expect((await saved('#save')).content).toMatch(/^\uFEFF\S.+[^\r]\r\n\r\n\S.+[^\r]\r\n$/);
  // What is written after that is no longer that file.
  await page.click('#clear');
  await translate(page, 'The house.\nThe garden.');
  const { name, content } = await saved('#save');
  expect(name).toBe('octavo.de.txt');
  expect(content).not.toMatch(/\r|\uFEFF/);
});

test('what is saved or copied while it is being translated is the whole translation', async () => {
  const sentence = (i: number) => `The train number ${String(i)} leaves in the evening.\n`;
  const long = (start: number) => Array.from({ length: 150 }, (_, i) => sentence(start + i)).join('');
  const begun = async (content: string) => {
    await page.click('#clear');
    await openText('long.txt', content);
    await page.waitForSelector('#save:enabled');
    expect(await page.getAttribute('#output', 'aria-busy')).toBe('true');
  };
  await begun(long(100));
  const { content } = await saved('#save');
  expect(await page.getAttribute('#output', 'aria-busy')).toBe('false');
  expect(content).toBe(await page.textContent('#output'));
  expect(content).toMatch(/^(?:\S.* .*\n){150}$/);
  await begun(long(300));
  const clipboard = await copied(page);
  expect(await page.getAttribute('#output', 'aria-busy')).toBe('false');
  expect(clipboard).toBe(await page.textContent('#output'));
});

test('subtitles keep their times; closing brings back what was written before', async () => {
  await translate(page, 'Before.');
  const srt =
    '1\n00:00:01,000 --> 00:00:02,500\nGood morning!\n\n2\n00:00:03,000 --> 00:00:04,000\n<i>Where is the train?</i>\n';
  await open('film.en.srt', srt);
  await page.waitForSelector('#document .primary');
  expect(await page.textContent('#document')).toContain('Subtitles (SRT)');
  await expectAccessible(page);
  await picture(page, 'document');
  const { name, content } = await saved('#document .primary');
  expect(name).toBe('film.de.srt');
  expect(content.match(/\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}/g)).toHaveLength(2);
  expect(content).toMatch(/<i>.+<\/i>/);
  expect(content).not.toContain('Good morning');
  await page.click('#document .icon-only');
  await settled(page);
  expect(await page.inputValue('#source')).toBe('Before.');
  expect(await page.isEditable('#source')).toBe(true);
});

test('what was written before a document was opened survives a reload', async () => {
  await translate(page, 'Before.');
  await open('film.srt', '1\n00:00:01,000 --> 00:00:02,500\nGood morning!\n');
  await page.waitForSelector('#document .primary');
  await page.reload();
  await cardIs(page, 'ready');
  expect(await page.inputValue('#source')).toBe('Before.');
  expect(await page.isHidden('#document')).toBe(true);
});

test('a part of the page that the server no longer has asks for a reload', async () => {
  const { page: late } = await visit(browser, site.url(), { serviceWorkers: 'block' });
  await cardIs(late, 'needed');
  const formats = readdirSync(join(built, 'assets')).find((name) => /^formats-.*\.js$/.test(name)) ?? '';
  site.spoil(`/assets/${formats}`, { status: 404 });
  await late.setInputFiles('#file', { name: 'a.md', mimeType: 'text/markdown', buffer: Buffer.from('# A') });
  await late.waitForSelector('.toast .plain');
  expect(await late.textContent('.toast')).toContain('a.md could not be translated');
  expect(await late.textContent('.toast .plain')).toBe('Reload');
  await late.context().close();
});

test('HTML and Markdown keep their markup', async () => {
  await open('page.html', '<h1>The house</h1><p>The <b>garden</b> is large.</p><script>let x = 1;</script>');
  await page.waitForSelector('#document .primary');
  const html = await saved('#document .primary');
  expect(html.name).toBe('page.de.html');
  expect(html.content).toMatch(/<h1>.+<\/h1><p>.*<b>.+<\/b>.*<\/p><script>let x = 1;<\/script>/);
  await open('readme.md', '# The house\n\n- The garden is large.\n\n```\nconst x = 1;\n```\n');
  await page.waitForFunction(() => document.querySelector('#document')?.textContent.includes('readme.md'));
  await page.waitForSelector('#document .primary');
  const markdown = await saved('#document .primary');
  expect(markdown.name).toBe('readme.de.md');
  expect(markdown.content).toMatch(/^# .+\n\n- .+\n\n```\nconst x = 1;\n```\n$/);
  await page.click('#document .icon-only');
});

test('a document that waits for the model leaves its download in sight, and a long one its tools', async () => {
  const { page: first } = await visit(browser, site.url());
  const inSight = async (selector: string) => {
    const box = await first.locator(selector).boundingBox();
    return box !== null && box.y >= 0 && box.y + box.height <= 800;
  };
  await cardIs(first, 'needed');
  const buffer = Buffer.from('The garden is large.\n\n'.repeat(100));
  await first.setInputFiles('#file', { name: 'long.md', mimeType: 'text/markdown', buffer });
  await first.waitForSelector('#document:not([hidden])');
  expect(await inSight('#card .primary')).toBe(true);
  await picture(first, 'document-waiting');
  await download(first);
  await first.waitForSelector('#document .primary');
  await first.evaluate(() => {
    scrollTo(0, 300);
  });
  expect(await inSight('#copy')).toBe(true);
  await picture(first, 'document-long');
  await first.context().close();
});

test('a file can be dropped anywhere', async () => {
  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['The dog sleeps.'], 'dog.txt', { type: 'text/plain' }));
    return data;
  });
  await page.dispatchEvent('body', 'dragenter', { dataTransfer: transfer });
  expect(await page.getAttribute('#book', 'class')).toContain('dropping');
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
  await page.waitForFunction(
    () => document.querySelector<HTMLTextAreaElement>('#source')?.value === 'The dog sleeps.',
  );
  expect(await page.getAttribute('#book', 'class')).not.toContain('dropping');
});

test('what is not text is refused with a word', async () => {
  await open('picture.png', Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13]));
  await page.waitForSelector('.toast');
  expect(await page.textContent('#toasts')).toContain('picture.png is not a text file');
});

test('a long document can be stopped by closing it', async () => {
  const cue = (i: number) =>
    `${String(i)}\n00:00:01,000 --> 00:00:02,000\nThe number of this line is ${String(i)}.\n`;
  await open('long.srt', Array.from({ length: 2000 }, (_, i) => cue(i + 1)).join('\n'));
  await page.waitForFunction(
    () => (document.querySelector<HTMLProgressElement>('#document progress')?.value ?? 0) > 0,
  );
  await picture(page, 'document-progress');
  await page.click('#document .icon-only');
  expect(await page.isHidden('#document')).toBe(true);
  expect((await translate(page, 'Free again.')).length).toBeGreaterThan(3);
  expect(heard).toEqual([]);
});
