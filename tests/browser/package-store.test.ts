// Models in a real browser: its cache, its quota, two of its tabs, and no network at all.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { basename, dirname } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type Fault, Site, launch } from './harness.js';
import { type PageScope, openPage, packageSite, tiny, tinyFile } from './package-harness.js';

let browser: Browser;
let site: Site;
let stop: () => Promise<void>;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  ({ site, stop } = await packageSite());
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  await stop();
});
beforeEach(async () => {
  context = await browser.newContext(); // with a cache of its own
  ({ page } = await openPage(context, site));
  site.requests.length = 0;
});
afterEach(() => context.close());

const ranges = () => site.requests.filter(({ path }) => path === tinyFile).map(({ range }) => range ?? '');

/** Creates a translator in the page, translates, and destroys it; what comes back is the translation or the error's name. */
const translateOnce = (where = page) =>
  where.evaluate(async () => {
    const { octavo } = globalThis as unknown as PageScope;
    const registry = '/tiny/registry.json';
    const store = new octavo.ModelStore({ registry, timing: { pause: 5, attempts: 2, stall: 500 } });
    try {
      const languages = { sourceLanguage: 'en-GB', targetLanguage: 'de' };
      const translator = await octavo.Translator.create({ ...languages, store });
      const translation = await translator.translate('The house is small. 42!');
      translator.destroy();
      return translation;
    } catch (error) {
      return (error as DOMException).name;
    }
  });

const stored = () =>
  page.evaluate(async () => {
    const { octavo } = globalThis as unknown as PageScope;
    return (await new octavo.ModelStore().list()).map(({ id, name, bytes }) => ({ id, name, bytes }));
  });

test('downloads once, and then has the model without a network', async () => {
  const online = await translateOnce();
  expect(online).toContain('42');
  expect(await translateOnce()).toBe(online);
  expect(ranges()).toEqual(['']);
  // The page's own files are for its service worker to keep: see the page's tests.
  await site.stop();
  try {
    const offline = await page.evaluate(async () => {
      const { octavo } = globalThis as unknown as PageScope;
      const store = new octavo.ModelStore({ registry: '/tiny/registry.json' });
      const file = await store.open('en', 'de');
      return [file.size, await store.availability('en', 'de')];
    });
    expect(offline).toEqual([tiny.bytes.length, 'available']);
  } finally {
    await site.start();
  }
});

test('goes on with a download that was cut, even in a later visit', async () => {
  site.spoil(tinyFile, { cutAfter: 50_000 }, { status: 503 });
  expect(await translateOnce()).toBe('NetworkError');
  await page.reload();
  await page.waitForFunction(() => 'octavo' in globalThis);
  expect(await translateOnce()).toContain('42');
  expect(ranges()[0]).toBe('');
  const resumed = Number(/^bytes=(\d+)-$/.exec(ranges().at(-1) ?? '')?.[1]);
  expect(resumed).toBeGreaterThan(0);
  expect(resumed).toBeLessThanOrEqual(50_000);
});

test('a wrong checksum, a missing file and silence are NetworkErrors, and the next attempt works', async () => {
  site.spoil(tinyFile, { wrongByte: true });
  expect(await translateOnce()).toBe('NetworkError');
  site.spoil(tinyFile, { status: 404 });
  expect(await translateOnce()).toBe('NetworkError');
  site.spoil(tinyFile, { stallAfter: 0 }, { stallAfter: 0 });
  expect(await translateOnce()).toBe('NetworkError');
  site.spoil(tinyFile);
  expect(await stored()).toEqual([]);
  expect(await translateOnce()).toContain('42');
});

test('a file that is too long or too short is a NetworkError, of which nothing is kept that is wrong', async () => {
  const address = `**${tinyFile}`;
  for (const body of [
    Buffer.concat([tiny.bytes, Buffer.alloc(100)]),
    Buffer.from(tiny.bytes.slice(0, -100)),
  ]) {
    await page.route(address, (route) => route.fulfill({ body }));
    expect(await translateOnce()).toBe('NetworkError');
    expect(await stored()).toEqual([]);
    await page.unroute(address);
    expect(await translateOnce()).toContain('42');
    await page.evaluate(() => caches.delete('octavo'));
  }
  // The long one leaves nothing, the short one a beginning.
  expect(ranges()).toEqual(['', `bytes=${String(tiny.bytes.length - 100)}-`]);
});

test('a download that was cut begins again where the server knows no ranges', async () => {
  site.spoil(tinyFile, { cutAfter: 50_000 });
  const asked: (string | undefined)[] = [];
  await page.route(`**${tinyFile}`, async (route) => {
    const { range } = route.request().headers();
    asked.push(range);
    if (range === undefined) await route.fallback();
    else await route.fulfill({ body: Buffer.from(tiny.bytes) });
  });
  expect(await translateOnce()).toContain('42');
  expect(asked).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
  expect(await stored()).toMatchObject([{ bytes: tiny.bytes.length }]);
});

test('follows a redirection to another origin where page and host allow it, and resumes there', async () => {
  const free = await browser.newContext({ bypassCSP: true }); // as if its policy named the other origin
  const { page: allowing } = await openPage(free, site);
  const host = (headers: Record<string, string>) => new Site({ '/': dirname(tiny.path) }, headers).start();
  const open = await host({ 'Access-Control-Allow-Origin': '*' });
  const closed = await host({});
  const path = `/${basename(tiny.path)}`;
  const redirect = (to: Site) => {
    site.spoil(tinyFile, ...Array<Fault>(2).fill({ redirect: to.url(path) }));
  };
  try {
    redirect(open);
    expect(await translateOnce(page)).toBe('NetworkError'); // the page's policy does not
    expect(open.requests).toEqual([]);
    redirect(closed);
    expect(await translateOnce(allowing)).toBe('NetworkError'); // the host does not
    redirect(open);
    open.spoil(path, { cutAfter: 50_000 });
    expect(await translateOnce(allowing)).toContain('42');
    expect(open.requests.map(({ range }) => range)).toEqual([
      undefined,
      expect.stringMatching(/^bytes=[1-9]\d*-$/),
    ]);
  } finally {
    await Promise.all([free.close(), open.stop(), closed.stop()]);
  }
});

test.each([
  ['no note', undefined],
  ['a note that is not encoded', '%'],
  ['a note that is not JSON', '%7B'],
  ['a note that says nothing', 'null'],
])('entries with %s count as absent, harm no others, and can be cleared', async (_, note) => {
  const expected = await translateOnce();
  const spoil = (pattern: string) =>
    page.evaluate(
      async ([part, header]) => {
        const cache = await caches.open('octavo');
        const entries = (await cache.keys()).filter(({ url }) => url.includes(part));
        for (const request of entries) {
          const body = await (await cache.match(request))?.blob();
          const headers = header === undefined ? {} : { 'Octavo-Note': header };
          await cache.put(request, new Response(body, { headers }));
        }
        return entries.length;
      },
      [pattern, note] as const,
    );
  const look = () =>
    page.evaluate(async () => {
      const { octavo } = globalThis as unknown as PageScope;
      const store = new octavo.ModelStore({ registry: '/tiny/registry.json' });
      const offered = store.offered().catch((error: unknown) => error as Error);
      return {
        listed: (await store.list()).length,
        registry: await offered.then((found) => ('name' in found ? found.name : found.length)),
        availability: await store.availability('en', 'de'),
      };
    });
  expect(await spoil('/registry-')).toBe(1);
  await site.stop();
  try {
    expect(await look()).toEqual({ listed: 1, registry: 'NetworkError', availability: 'unavailable' });
  } finally {
    await site.start();
  }
  expect(await look()).toEqual({ listed: 1, registry: 1, availability: 'available' });
  expect(await spoil('/model-')).toBe(1);
  expect(await look()).toEqual({ listed: 0, registry: 1, availability: 'downloadable' });
  expect(await translateOnce()).toBe(expected);
  expect(ranges()).toEqual(['', '']);
  expect(await spoil('/')).toBe(2);
  const left = await page.evaluate(async () => {
    const { octavo } = globalThis as unknown as PageScope;
    await new octavo.ModelStore().clear();
    return (await (await caches.open('octavo')).keys()).length;
  });
  expect(left).toBe(0);
});

test('a corrupt cache is mended', async () => {
  const expected = await translateOnce();
  const spoilt = await page.evaluate(async () => {
    const cache = await caches.open('octavo');
    const models = (await cache.keys()).filter(({ url }) => url.includes('model-'));
    for (const request of models) {
      const { headers } = (await cache.match(request)) ?? new Response();
      await cache.put(request, new Response('spoilt', { headers }));
    }
    return models.length;
  });
  expect(spoilt).toBe(1);
  expect(await translateOnce()).toBe(expected);
  expect(ranges()).toEqual(['', '']);
  expect(await stored()).toMatchObject([{ name: 'tiny', bytes: tiny.bytes.length }]);
});

test('without space it translates all the same, and keeps nothing', async () => {
  const session = await context.newCDPSession(page);
  const origin = site.url('').replace(/\/$/, '');
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 20_000 });
  expect(await translateOnce()).toContain('42');
  expect(await stored()).toEqual([]);
  expect(await translateOnce()).toContain('42');
  expect(ranges()).toEqual(['', '']);
  await session.send('Storage.overrideQuotaForOrigin', { origin });
  expect(await translateOnce()).toContain('42');
  expect(await stored()).toHaveLength(1);
});

test('two tabs at once download once, and both translate', async () => {
  const { page: other } = await openPage(context, site);
  site.requests.length = 0;
  const results = await Promise.all([translateOnce(page), translateOnce(other)]);
  expect(results[0]).toContain('42');
  expect(results[1]).toBe(results[0]);
  expect(ranges()).toEqual(['']);
});

test('a tab that is closed while it downloads leaves the download to the other', async () => {
  const { page: other } = await openPage(context, site);
  site.requests.length = 0;
  site.spoil(tinyFile, { stallAfter: 10_000 });
  const first = translateOnce(other).catch(() => 'closed');
  while (ranges().length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  const second = translateOnce(page);
  await other.close();
  expect(await first).toBe('closed');
  expect(await second).toContain('42');
});

test('lists and deletes what it holds', async () => {
  await translateOnce();
  const [model] = await stored();
  const left = await page.evaluate(async (id) => {
    const { octavo } = globalThis as unknown as PageScope;
    const store = new octavo.ModelStore({ registry: '/tiny/registry.json' });
    return [await store.delete(id), await store.delete(id), await store.availability('en', 'de')];
  }, model?.id ?? '');
  expect(left).toEqual([true, false, 'downloadable']);
  expect(await stored()).toEqual([]);
});

test('takes a File that the user has chosen', async () => {
  const base64 = Buffer.from(tiny.bytes).toString('base64');
  const translation = await page.evaluate(async (encoded) => {
    const { octavo } = globalThis as unknown as PageScope;
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
    const translator = await octavo.Translator.create({ model: new File([bytes], 'my.octavo') });
    const text = await translator.translate('The house is small. 42!');
    translator.destroy();
    return text;
  }, base64);
  expect(translation).toBe(await translateOnce());
});

test('says that its worker cannot be loaded', async () => {
  site.spoil('/octavo/worker.js', { status: 404 });
  expect(await translateOnce()).toBe('OperationError');
  expect(await translateOnce()).toContain('42');
});
