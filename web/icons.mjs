// Makes the PNG icons of icon.svg, for systems that want them: node web/icons.mjs. The results are checked in.
import { readFileSync, writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const directory = new URL('./public/', import.meta.url);
const source = readFileSync(new URL('icon.svg', directory), 'utf8');
const ground = /<rect width="128".*\n/;

/** Any shape may be cut out of it: the ground fills everything, the leaves keep to the middle. */
const maskable = source
  .replace(
    ground,
    '<rect width="128" height="128" fill="#9c2f1f" /><g transform="translate(19 19) scale(0.7)">',
  )
  .replace('</svg>', '</g></svg>');

const icons = [
  { name: 'icon-192.png', svg: source, size: 192 },
  { name: 'icon-512.png', svg: source, size: 512 },
  { name: 'icon-maskable-512.png', svg: maskable, size: 512 },
];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
for (const { name, svg, size } of icons) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  await page.setContent(`<style>body { margin: 0 } svg { display: block }</style>${svg}`);
  writeFileSync(new URL(name, directory), await page.screenshot({ omitBackground: true }));
  await page.close();
}
await browser.close();
