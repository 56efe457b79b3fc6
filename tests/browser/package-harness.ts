// A site with the package on it, as a plain static server would have it, and the tiny model for downloads that fail.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type * as octavo from '../../dist/index.js';
import { registryOf, tinyModel } from '../package/tiny-model.js';
import { Site, complaints, root } from './harness.js';

/** What the page of the site leaves in its global scope. */
export interface PageScope {
  octavo: typeof octavo;
  /** A translator that the test keeps from one call to the next. */
  translator: octavo.Translator;
}

const files = {
  'index.html': '<!doctype html><title>Test</title><script type="module" src="page.js"></script>',
  'favicon.ico': '',
  'page.js': "import * as octavo from './octavo/index.js';\nglobalThis.octavo = octavo;\n",
  // The package inside a worker of the page's own.
  'worker.js': `import { Translator } from './octavo/index.js';
    const translator = await Translator.create({ registry: '/tiny/registry.json', sourceLanguage: 'en', targetLanguage: 'de' });
    postMessage([await translator.translate('The house is small. 42!'), translator.engine.kernel]);
    translator.destroy();`,
};

export const tiny = tinyModel();
export const tinyFile = '/tiny/tiny.octavo';

/** Starts a site: the package at /octavo/, the tiny model and its registry at /tiny/; under the strictest policy. */
export async function packageSite(): Promise<{ site: Site; stop: () => Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'octavo-site-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  writeFileSync(join(directory, 'tiny.octavo'), tiny.bytes);
  writeFileSync(join(directory, 'registry.json'), registryOf(tiny.entry));
  const site = await new Site({
    '/': directory,
    '/octavo/': join(root, 'dist'),
    '/tiny/': directory,
  }).start();
  return {
    site,
    stop: async () => {
      await site.stop();
      rmSync(directory, { recursive: true });
    },
  };
}

/** Opens the site's page in a new tab, and waits until the package is loaded. */
export async function openPage(
  context: BrowserContext,
  site: Site,
): Promise<{ page: Page; heard: string[] }> {
  const page = await context.newPage();
  const heard = complaints(page);
  await page.goto(site.url());
  await page.waitForFunction(() => 'octavo' in globalThis);
  return { page, heard };
}
