// Builds the page into web/dist: static files that work under any path, with a service worker and brotli beside them.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { root, runNpm, step } from './shell.mjs';

export const page = join(root, 'web/dist');

/** Every file of the built page, by its path in it. */
export const pageFiles = () =>
  readdirSync(page, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(page, join(entry.parentPath, entry.name)))
    .sort();

export const buildPage = () =>
  step('Page', async () => {
    runNpm('vite', ['build', 'web', '--logLevel=warn']);
    await minifyAgain();
    await buildServiceWorker();
    compress();
  });

/** Packages that set-up installs, which imports this file before: only to be called from inside a step. */
const installed = createRequire(import.meta.url);

/** What Vite's own minifier leaves: together they come to 1.4 kB less than either alone. */
async function minifyAgain() {
  const { minify } = installed('terser');
  for (const file of pageFiles().filter((name) => /^assets.*\.js$/.test(name))) {
    const path = join(page, file);
    const options = { module: true, ecma: 2020, compress: { passes: 3 } };
    writeFileSync(path, (await minify(readFileSync(path, 'utf8'), options)).code);
  }
}

/** The service worker, with the list of what the page needs when there is no network. */
async function buildServiceWorker() {
  const files = pageFiles()
    .filter((file) => !/\.(octavo|map|br)$/.test(file)) // models are kept by the package, once somebody wants them
    .map((url) => {
      const hashed = url.startsWith('assets/'); // its name changes with its content
      const content = createHash('sha256').update(readFileSync(join(page, url)));
      return { url, revision: hashed ? null : content.digest('hex').slice(0, 16) };
    });
  await installed('esbuild').build({
    entryPoints: [join(root, 'web/service-worker/main.ts')],
    outfile: join(page, 'service-worker.js'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    define: { PAGE_FILES: JSON.stringify(files), 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  });
}

/** Brotli beside every file that gains from it, for servers that know to send it. */
function compress() {
  for (const file of pageFiles()) {
    if (!/\.(css|html|js|json|svg|wasm|webmanifest)$/.test(file)) continue;
    const bytes = readFileSync(join(page, file));
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    writeFileSync(join(page, `${file}.br`), brotliCompressSync(bytes, { params }));
  }
}
