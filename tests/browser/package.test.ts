// The package in a real browser, from a plain static server: no build, no inline code, no eval, no special headers.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { Translator } from '../../dist/node.js';
import { fiftyTexts, hashOf, realModel } from '../package/real-model.js';
import { type Site, launch } from './harness.js';
import { type PageScope, openPage, packageSite, tiny } from './package-harness.js';

/** The fastest kernel: which one that is, the CPU decides. */
const kernelOfChromium = /^(relaxed|fused)$/;

let browser: Browser;
let site: Site;
let stop: () => Promise<void>;
let page: Page;
let heard: string[];

beforeAll(async () => {
  ({ site, stop } = await packageSite());
  browser = await launch();
  ({ page, heard } = await openPage(await browser.newContext(), site));
});
afterAll(async () => {
  await browser.close();
  await stop();
});

test('creates with progress, and asks for nothing but the model that comes with it', async () => {
  site.requests.length = 0;
  const seen = await page.evaluate(async () => {
    const scope = globalThis as unknown as PageScope;
    const events: [loaded: number, bytes: number, total: number][] = [];
    const pair = { sourceLanguage: 'en', targetLanguage: 'de' };
    const before = await scope.octavo.Translator.availability(pair);
    scope.translator = await scope.octavo.Translator.create({
      ...pair,
      monitor: (monitor) => {
        monitor.addEventListener('downloadprogress', ({ loaded, loadedBytes, totalBytes }) =>
          events.push([loaded, loadedBytes, totalBytes]),
        );
      },
    });
    const { engine } = scope.translator;
    const after = await scope.octavo.Translator.availability(pair);
    return { before, after, events, engine, isolated: crossOriginIsolated };
  });
  expect([seen.before, seen.after, seen.isolated]).toEqual(['downloadable', 'available', false]);
  expect(seen.events[0]).toEqual([0, 0, seen.engine.modelBytes]);
  expect(seen.events.at(-1)).toEqual([1, seen.engine.modelBytes, seen.engine.modelBytes]);
  expect(seen.events.length).toBeGreaterThan(3);
  expect(seen.engine.kernel).toMatch(kernelOfChromium);
  const paths = site.requests.map(({ path }) => path);
  expect(paths.filter((path) => path.endsWith('.octavo'))).toEqual(['/octavo/models/en-de/model.octavo']);
  expect(paths.filter((path) => !path.startsWith('/octavo/'))).toEqual([]);
});

test('translates to the bit as Node does, in a batch and with 3 workers', async () => {
  const node = await Translator.create({ model: realModel });
  const expected = hashOf(await node.translateBatch(fiftyTexts));
  node.destroy();
  const [one, three] = await page.evaluate(async (texts) => {
    const { octavo, translator } = globalThis as unknown as PageScope;
    const many = await octavo.Translator.create({ sourceLanguage: 'en', targetLanguage: 'de', workers: 3 });
    const results = [await translator.translateBatch(texts), await many.translateBatch(texts)];
    many.destroy();
    return results;
  }, fiftyTexts);
  expect(hashOf(one ?? [])).toBe(expected);
  expect(hashOf(three ?? [])).toBe(expected);
});

test('streams sentences as they finish', async () => {
  const { chunks, whole, first, last } = await page.evaluate(async () => {
    const { translator } = globalThis as unknown as PageScope;
    const words = 'house garden street river mountain village letter table window bridge'.split(' ');
    const pairs = words.flatMap((one) => words.slice(0, 4).map((two) => [one, two] as const));
    const text = pairs.map(([one, two]) => `The ${one} is near the ${two}.`).join(' ');
    const start = performance.now();
    const times: number[] = [];
    const parts: string[] = [];
    const reader = translator.translateStreaming(text).getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      parts.push(next.value);
      times.push(performance.now() - start);
    }
    return { chunks: parts, whole: await translator.translate(text), first: times[0], last: times.at(-1) };
  });
  expect(chunks.join('')).toBe(whole);
  expect(first).toBeLessThan((last ?? 0) / 2);
});

test('an abort is honoured within 50 ms, mid-sentence, and the worker is free again', async () => {
  const delays = await page.evaluate(async () => {
    const { translator } = globalThis as unknown as PageScope;
    const measured: { rejected: number; free: number; name: string }[] = [];
    for (let i = 0; i < 20 && (i < 5 || Math.min(...measured.map(({ free }) => free)) >= 50); ++i) {
      const controller = new AbortController();
      const sentence = `${String(i)} and so it goes on and on`.repeat(600);
      const translation = translator.translate(sentence, { beam: 8, signal: controller.signal });
      const outcome = translation.then(
        () => 'finished',
        (error: unknown) => (error as DOMException).name,
      );
      await new Promise((resolve) => setTimeout(resolve, 150));
      const start = performance.now();
      controller.abort();
      const name = await outcome;
      const rejected = performance.now() - start;
      await translator.measureInputUsage('free?');
      measured.push({ rejected, free: performance.now() - start, name });
    }
    return measured;
  });
  expect(new Set(delays.map(({ name }) => name))).toEqual(new Set(['AbortError']));
  // The best of them: other programs may take the processor away now and then.
  expect(Math.min(...delays.map(({ rejected }) => rejected))).toBeLessThan(50);
  expect(Math.min(...delays.map(({ free }) => free))).toBeLessThan(50);
});

/** One task of a thread, as Chromium traces it; `tdur` is the processor time that it took, in microseconds. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  tdur?: number;
}

/** "Total blocking time" of the page meanwhile: what tasks of its main thread take beyond 50 ms each, in milliseconds.
 * Of processor time, for what other programs take away meanwhile is not the page's doing. */
async function blockedDuring(work: () => Promise<unknown>): Promise<number> {
  await browser.startTracing(page, { categories: ['toplevel', 'blink.user_timing'] });
  await work();
  // The mark tells the page's thread from that of a renderer kept in reserve, and a task that can set it comes after the
  // last one of the work: that answers from within itself, and has no end in the trace until it ended.
  await page.evaluate(() => performance.mark('worked'));
  const trace = (await browser.stopTracing()).toString();
  const { traceEvents } = JSON.parse(trace) as { traceEvents: TraceEvent[] };
  const mark = traceEvents.find(({ name }) => name === 'worked');
  const tasks = traceEvents.filter(
    ({ name, pid, tid }) => name === 'ThreadControllerImpl::RunTask' && pid === mark?.pid && tid === mark.tid,
  );
  return tasks.reduce((sum, { tdur = 0 }) => sum + Math.max(0, tdur / 1000 - 50), 0);
}

test('long texts and documents do not block the page', async () => {
  const calculate = () =>
    page.evaluate(() => {
      let sum = 0;
      for (let i = 0; i < 5e8; ++i) sum += Math.sqrt(i);
      return sum;
    });
  expect(await blockedDuring(calculate)).toBeGreaterThan(100);

  const translateAndAbort = () =>
    page.evaluate(async () => {
      const { translator } = globalThis as unknown as PageScope;
      const paragraph =
        'Dr. Smith visited the U.S. in 1990, e.g. https://example.com/a?b=1! It costs 3.50 dollars. ';
      const text = `${paragraph.repeat(5)}\n\n`.repeat(1000);
      const html = `<p>${paragraph.replaceAll('dollars', '<b>dollars</b>').repeat(5)}</p>`.repeat(400);
      const controller = new AbortController();
      const { signal } = controller;
      const running = [translator.translate(text, { signal }), translator.translateHTML(html, { signal })];
      await new Promise((resolve) => setTimeout(resolve, 2000));
      controller.abort();
      await Promise.allSettled(running);
      return text.length + html.length;
    });
  // The first time, code is not compiled yet.
  expect(await translateAndAbort()).toBeGreaterThan(600_000);
  expect(await blockedDuring(translateAndAbort)).toBeLessThan(100);
});

test('runs inside a worker of the page', async () => {
  const node = await Translator.create({ model: tiny.path });
  const expected = await node.translate('The house is small. 42!');
  node.destroy();
  const answer = await page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const worker = new Worker('/worker.js', { type: 'module' });
        worker.onmessage = ({ data }) => {
          worker.terminate();
          resolve(data);
        };
        worker.onerror = ({ message }) => {
          reject(new Error(message));
        };
      }),
  );
  expect(answer).toEqual([expected, expect.stringMatching(kernelOfChromium)]);
});

describe('on a real document', () => {
  test('translates in place: nodes, listeners and focus stay, nothing is executed', async () => {
    const seen = await page.evaluate(async () => {
      const { translator } = globalThis as unknown as PageScope;
      document.body.innerHTML = `
        <h1 title="A big title">Good <em>morning</em>, {name}!</h1>
        <p id="p">The <b id="b">old house</b> costs <i>42</i> euros. See <a id="a" href="/x?y=1">the garden</a>.</p>
        <p translate="no" id="kept">Leave me alone.</p>
        <input id="field" placeholder="Your name" value="my own text"><button id="button">Send it</button>
        <img alt="A red car"><pre id="pre">let it be</pre><script id="script">let a = "some text";</script>
        <svg><title>Some drawing</title></svg><div id="shout"></div>`;
      const byId = (id: string) => document.querySelector<HTMLElement>(`#${id}`) ?? document.body;
      const nodes = ['b', 'a', 'button', 'field'].map(byId);
      let clicks = 0;
      byId('a').addEventListener('click', (event) => {
        event.preventDefault();
        ++clicks;
      });
      byId('field').focus();
      byId('shout').textContent = '<img src=x onerror="document.title = 1"> is text';
      const before = document.body.textContent;
      await translator.translateElement(document.body);
      byId('a').click();
      return {
        same: ['b', 'a', 'button', 'field'].every((id, i) => byId(id) === nodes[i]),
        inside: byId('p').contains(byId('b')) && byId('p').contains(byId('a')),
        clicks,
        focused: document.activeElement?.id,
        kept: ['kept', 'pre', 'script'].map((id) => byId(id).textContent),
        value: (byId('field') as HTMLInputElement).value,
        changed: before !== document.body.textContent,
        bold: byId('b').textContent,
        images: byId('shout').querySelectorAll('img').length,
        heading: document.querySelector('h1')?.textContent,
        placeholder: (byId('field') as HTMLInputElement).placeholder,
      };
    });
    expect(seen).toMatchObject({
      same: true,
      inside: true,
      clicks: 1,
      focused: 'field',
      kept: ['Leave me alone.', 'let it be', 'let a = "some text";'],
      value: 'my own text',
      changed: true,
      images: 0,
      heading: expect.stringContaining('{name}'),
    });
    expect(seen.bold).not.toBe('');
    expect(seen.placeholder).not.toBe('');
    expect(await page.title()).toBe('Test');
  });

  test('leaves alone what the page changes meanwhile', async () => {
    const text = await page.evaluate(async () => {
      const { translator } = globalThis as unknown as PageScope;
      document.body.innerHTML = '<p id="one">The house is old.</p><p id="two">The garden is green.</p>';
      const [one, two] = document.querySelectorAll('p');
      const done = translator.translateElement(document.body);
      if (one) one.textContent = 'Written by the page.';
      await done;
      return [one?.textContent, two?.textContent];
    });
    expect(text[0]).toBe('Written by the page.');
    expect(text[1]).not.toBe('The garden is green.');
  });
});

test('destroy ends the workers, and says so afterwards', async () => {
  // In a tab of its own: of workers inside workers, the driver does not always hear that they have ended.
  const { page: tab, heard: there } = await openPage(page.context(), site);
  await tab.evaluate(async () => {
    const scope = globalThis as unknown as PageScope;
    const pair = { sourceLanguage: 'en', targetLanguage: 'de' };
    scope.translator = await scope.octavo.Translator.create({ ...pair, workers: 2 });
  });
  expect(tab.workers()).toHaveLength(2);
  const seen = await tab.evaluate(async () => {
    const { translator } = globalThis as unknown as PageScope;
    const pending = translator
      .translate('This will not be finished. '.repeat(50))
      .catch((error: unknown) => error);
    translator.destroy();
    const after = translator.translate('x').catch((error: unknown) => error);
    const name = (error: unknown) => (error as DOMException).name;
    return [name(await pending), name(await after), translator.engine.memoryBytes];
  });
  expect(seen).toEqual(['AbortError', 'InvalidStateError', 0]);
  for (let i = 0; tab.workers().length > 0 && i < 400; ++i)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(tab.workers()).toEqual([]);
  expect(there).toEqual([]);
  await tab.close();
});

test('nothing was complained about', () => {
  expect(heard).toEqual([]);
});
