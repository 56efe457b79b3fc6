// The panel under the hood, by itself, in a browser with the strictest policy and on the real model.
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import type { Inspection, Translator } from '../../dist/index.js';
import { Site, complaints, launch, picture, root } from './harness.js';

declare global {
  interface Window {
    hood: {
      element: HTMLElement;
      update: (translator: Translator | undefined) => void;
      show: (sentence: string) => void;
      measured: (milliseconds: number, tokens: number) => void;
    };
    translator: Translator;
    start: (language: 'en' | 'de') => Promise<void>;
  }
}

const sentence = 'The old house at the end of the street was sold yesterday.';
const fixture = join(root, 'build/fixtures/hood');
const script = `
  import { Translator } from '/dist/index.js';
  import { createHood, hoodStrings } from './web/src/hood/index.ts';
  window.start = async (language) => {
    window.hood = createHood(hoodStrings[language]);
    document.querySelector('div').replaceChildren(window.hood.element);
    window.translator = await Translator.create({ sourceLanguage: 'en', targetLanguage: 'de' });
  };`;
const html = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Hood</title>
  <link rel="icon" href="icon.svg"><link rel="stylesheet" href="style.css"><link rel="stylesheet" href="main.css">
  <script type="module" src="main.js"></script><main><h1>Hood</h1><div></div></main></html>`;

let site: Site;
let browser: Browser;
let page: Page;
let heard: string[];

beforeAll(async () => {
  await mkdir(fixture, { recursive: true });
  await build({
    stdin: { contents: script, resolveDir: root, loader: 'ts' },
    outfile: join(fixture, 'main.js'),
    bundle: true,
    format: 'esm',
    external: ['/dist/*'],
    logLevel: 'warning',
  });
  await writeFile(join(fixture, 'index.html'), html);
  const styles = ['style', 'tokens', 'controls', 'book', 'dialogs'].map((name) => `src/${name}.css`);
  for (const name of [...styles, 'public/icon.svg'])
    await copyFile(join(root, 'web', name), join(fixture, basename(name)));
  site = await new Site({ '/': fixture, '/dist/': join(root, 'dist') }).start();
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  await site.stop();
});

beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 1100, height: 900 } });
  heard = complaints(page);
});

afterEach(async () => {
  expect(heard).toEqual([]);
  await page.close();
});

async function openPanel(language: 'en' | 'de' = 'en', text = sentence): Promise<Inspection> {
  await page.goto(site.url());
  await page.evaluate((wanted) => window.start(wanted), language);
  const inspection = await page.evaluate(async (wanted) => {
    window.hood.update(window.translator);
    window.hood.measured(12.5, 14);
    window.hood.measured(8, 12);
    window.hood.show(wanted);
    return window.translator.inspect(wanted);
  }, text);
  await page.waitForSelector('.hood-heat');
  return inspection;
}

const cells = () =>
  page
    .locator('.hood-heat tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => Array.from(row.querySelectorAll('td'), (cell) => Number(cell.textContent))),
    );

describe('attention', () => {
  test('is the integers of the engine: of a head, or of all together', async () => {
    const { attention, source, target } = await openPanel();
    const last = Math.max(...attention.map(({ layer }) => layer));
    const heads = attention.filter(({ layer }) => layer === last);
    const sums = target.map((_, row) =>
      source.map((_, column) => heads.reduce((sum, { weights }) => sum + (weights[row]?.[column] ?? 0), 0)),
    );
    expect(await cells()).toEqual(sums);
    await page.locator('.hood-controls select').first().selectOption('Layer 1');
    await page.locator('.hood-controls select').last().selectOption('Head 2');
    expect(await cells()).toEqual(attention.find(({ layer, head }) => layer === 0 && head === 1)?.weights);
    expect(await page.locator('.hood-heat thead th').allTextContents()).toHaveLength(source.length);
  });

  test('tells the cell that is pointed at or walked to', async () => {
    const { source } = await openPanel();
    const readout = page.locator('p.hood-readout');
    await page.locator('.hood-heat tbody tr').nth(1).locator('td').nth(1).hover();
    const [, row] = await cells();
    const total = row?.reduce((sum, weight) => sum + weight, 0) ?? 0;
    const share = Math.round((100 * (row?.[1] ?? 0)) / total);
    await expect(readout.textContent()).resolves.toContain(`: ${String(row?.[1])}, ${String(share)}%`);

    await page.locator('.hood-heat [tabindex="0"]').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowDown');
    expect(await readout.textContent()).toContain('← end: ');
    expect(await page.evaluate(() => (document.activeElement as HTMLTableCellElement).cellIndex)).toBe(
      source.length,
    );
    expect(await page.locator('.hood-heat [tabindex="0"]').count()).toBe(1);
  });

  test.each(['light', 'dark'])('can be read in the %s theme', async (theme) => {
    await openPanel();
    await page.evaluate((value) => (document.documentElement.dataset.theme = value), theme);
    await picture(page, `hood-${theme}`);
    const [contrasts, grounds] = await page.locator('.hood-heat tbody td').evaluateAll((all) => {
      const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
      const paint = (colour: string) => {
        if (pixel) pixel.fillStyle = colour;
        pixel?.fillRect(0, 0, 1, 1);
        return [...(pixel?.getImageData(0, 0, 1, 1).data ?? [])].slice(0, 3);
      };
      const luminance = (colour: string) => {
        const [red = 0, green = 0, blue = 0] = paint(colour).map((part) => {
          const value = part / 255;
          return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
      };
      const contrast = (cell: Element) => {
        const { color, backgroundColor } = getComputedStyle(cell);
        const [a, b] = [luminance(color), luminance(backgroundColor)];
        return Math.max(a, b) / Math.min(a, b);
      };
      const own = all.map(contrast);
      // And on whatever a sentence might bring.
      const warm = all.find((cell) => cell.classList.contains('hood-warm')) as HTMLElement;
      const grounds = Array.from({ length: 101 }, (_, share) => {
        warm.style.setProperty('--share', `${String(share)}%`);
        own.push(contrast(warm));
        return paint(getComputedStyle(warm).backgroundColor).join();
      });
      return [own, grounds] as const;
    });
    expect(Math.min(...contrasts)).toBeGreaterThanOrEqual(4.5);
    expect(new Set(grounds).size).toBeGreaterThan(90); // from the one colour to the other, step by step
  });
});

describe('scales', () => {
  test('are drawn where their logarithm belongs', async () => {
    const { stations, source, target } = await openPanel();
    for (const [index, part] of (['encoder', 'decoder'] as const).entries()) {
      const figure = page.locator('.hood-figure').nth(index);
      const lines = await figure
        .locator('.hood-line')
        .evaluateAll((all) =>
          all.map((line) =>
            Array.from(line.querySelectorAll('polyline'), (own) => own.getAttribute('points') ?? ''),
          ),
        );
      expect(lines).toHaveLength((part === 'encoder' ? source : target).length);
      const own = stations.filter((station) => station.part === part);
      // Pixels for each bit, by the labels of the axis.
      const axis = await figure
        .locator('.hood-grid text[text-anchor=end]')
        .evaluateAll((all) =>
          all
            .map((text) => [Number(text.textContent), Number(text.getAttribute('y')) - 4])
            .filter(([log]) => Number.isFinite(log)),
        );
      const [[low = 0, bottom = 0] = [], [high = 0, top = 0] = []] = [axis[0], axis.at(-1)];
      lines.forEach(([stream = '', norm = ''], token) => {
        const points = [...stream.split(' '), norm.split(' ')[1] ?? ''].map((point) =>
          Number(point.split(',')[1]),
        );
        expect(points).toHaveLength(own.length);
        points.forEach((y, i) => {
          const log = low + ((bottom - y) / (bottom - top)) * (high - low);
          expect(log).toBeCloseTo(Math.log2(own[i]?.scales[token] ?? 0), 1);
        });
      });
    }
  });

  test('are told for a station and a piece that are chosen with the keyboard', async () => {
    const { stations } = await openPanel();
    const figure = page.locator('.hood-figure').first();
    const readout = figure.locator('output');
    expect(await readout.textContent()).toContain('embedding: s from');
    await figure.getByRole('slider').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await readout.textContent()).toContain('Layer 1, after the feed-forward network');
    expect(await figure.getByRole('slider').getAttribute('aria-valuetext')).toContain('Layer 1');
    await figure.getByRole('button', { name: 'old' }).press('Enter');
    const scale = stations[2]?.scales[1] ?? 0;
    expect(await readout.textContent()).toContain(`= 2^${Math.log2(scale).toFixed(2)}; values up to`);
    await figure.getByRole('button', { name: 'old' }).press('Enter');
    expect(await readout.textContent()).toContain('s from');
  });
});

test('the meters show what the engine says and what was measured', async () => {
  await openPanel();
  const { kernel, model } = await page.evaluate(() => window.translator.engine);
  const meters = await page.locator('.hood-meters').innerText();
  expect(meters).toContain(kernel);
  expect(meters).toContain('1,500 tokens/s'); // 12 tokens in 8 ms
  expect(meters).toContain('8.0 ms per sentence');
  expect(meters).toMatch(/[\d,]+ parameters; engine [\d.]+ MB, model [\d.]+ MB: [34]\.\d times smaller/);
  expect(model.flavour).toBe('int8');
  expect(await page.locator('.hood-plot polyline').count()).toBe(1);
});

test('nothing is inspected while nobody looks', async () => {
  await page.goto(site.url());
  await page.evaluate(() => window.start('en'));
  expect(await page.locator('.hood-message').textContent()).toBe('No model is loaded yet.');
  await page.evaluate((text) => {
    const inspect = window.translator.inspect.bind(window.translator);
    window.translator.inspect = (...args) => {
      document.body.dataset.inspected = 'yes';
      return inspect(...args);
    };
    window.hood.element.hidden = true;
    window.hood.update(window.translator);
    window.hood.show(text);
  }, sentence);
  await page.waitForTimeout(600);
  expect(await page.locator('body[data-inspected]').count()).toBe(0);
  await page.evaluate(() => (window.hood.element.hidden = false));
  await page.waitForSelector('.hood-heat');
  expect(await page.locator('body[data-inspected]').count()).toBe(1);
  await page.evaluate(() => {
    window.hood.update(undefined);
  });
  expect(await page.locator('.hood-heat').isVisible()).toBe(false);
});

test('a phone has room for it, in German, even for a long sentence', async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  const long =
    'Although it had been raining for several days, the mayor of the little town insisted that the annual summer festival must take place.';
  await openPanel('de', long);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await picture(page, 'hood-phone');
});

test('axe finds nothing', async () => {
  const context = await browser.newContext({ bypassCSP: true });
  page = await context.newPage();
  for (const [language, theme] of [
    ['en', 'light'],
    ['de', 'dark'],
  ] as const) {
    await openPanel(language);
    await page.evaluate((value) => (document.documentElement.dataset.theme = value), theme);
    await page.addScriptTag({ path: join(root, 'node_modules/axe-core/axe.min.js') });
    const violations = await page.evaluate(async () => {
      const { axe } = window as unknown as { axe: { run: () => Promise<{ violations: { id: string }[] }> } };
      return (await axe.run()).violations.map(({ id }) => id);
    });
    expect(violations).toEqual([]);
  }
});
