// Takes the picture of the built page that the README shows: node web/screenshot.mjs. The result is checked in.
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { serve } from '../.ci/serve.mjs';

const text =
  'The weather is beautiful today. She lives in a small house near the river.\n\n' +
  'The book is on the table. Nobody knows the answer. We have bought a new car.';

const address = await serve();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
const page = await browser.newPage({ viewport: { width: 1180, height: 640 }, locale: 'en' });
await page.goto(`${address}#text=${encodeURIComponent(text)}`);
await page.click('#card .primary');
await page.waitForSelector('#card[data-state="ready"]', { state: 'attached' });
await page.waitForSelector('#output[aria-busy="false"] .sentence:nth-of-type(5)');

// The pointer rests on a word, so that what it comes from is lit.
const place = await page.evaluate(() => {
  const words = globalThis.document.querySelectorAll('.sentence')[1].firstChild;
  const range = globalThis.document.createRange();
  const start = words.data.search(/(?<=\s)\p{Lu}/u); // a noun, in German
  range.setStart(words, start);
  range.setEnd(words, start + 2);
  const { left, top, height } = range.getBoundingClientRect();
  return [left + 4, top + height / 2];
});
await page.mouse.move(...place);
await page.waitForTimeout(500);
await page.screenshot({ path: fileURLToPath(new URL('./screenshot.png', import.meta.url)) });
await browser.close();
process.exit();
