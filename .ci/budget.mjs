// What the engine and the page may weigh at most, in bytes. A visitor pays this before the first word is translated.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { wasmBuilds } from './build.mjs';
import { page, pageFiles } from './page.mjs';
import { Trouble, isMain, main, root, say, step } from './shell.mjs';

const plain = (bytes) => bytes.length;
const brotli = (bytes) => brotliCompressSync(bytes).length;
const gzip = (bytes) => gzipSync(bytes, { level: 9 }).length;

const engineBudgets = [
  { file: 'octavo.wasm', form: 'raw', size: plain, most: 450_000 },
  { file: 'octavo.wasm', form: 'brotli', size: brotli, most: 170_000 },
  { file: 'octavo.mjs', form: 'raw', size: plain, most: 40_000 },
];

// Scripts and styles of the page: what comes before the first word, and with all that is loaded when somebody asks for it
// (documents, the panel under the hood). The service worker is fetched in the background.
const background = /^service-worker\.js$/;
const onDemand = /^assets\/(formats|hood)-/;
const pageBudgets = [
  { what: 'page at once', most: 65_000, files: (file) => !background.test(file) && !onDemand.test(file) },
  { what: 'page in all', most: 80_000, files: (file) => !background.test(file) },
  { what: 'service worker', most: 8_000, files: (file) => background.test(file) },
];

function* weighEngine() {
  for (const build of Object.keys(wasmBuilds)) {
    for (const { file, form, size, most } of engineBudgets) {
      const name = `${build}/${file}`;
      yield { name, form, bytes: size(readFileSync(join(root, 'dist', name))), most };
    }
  }
}

function* weighPage() {
  const scripts = pageFiles().filter((file) => /\.(js|css)$/.test(file));
  for (const { what, most, files } of pageBudgets) {
    const sizes = scripts.filter(files).map((file) => gzip(readFileSync(join(page, file))));
    yield { name: what, form: 'gzip', bytes: sizes.reduce((sum, bytes) => sum + bytes, 0), most };
  }
}

export const checkBudgets = () =>
  step('Size budget', () => {
    const exceeded = [];
    for (const { name, form, bytes, most } of [...weighEngine(), ...weighPage()]) {
      say(`   ${name.padEnd(20)} ${form.padEnd(6)} ${String(bytes).padStart(7)} of ${most}`);
      if (bytes > most) exceeded.push(`${name} (${form}) by ${bytes - most} bytes`);
    }
    if (exceeded.length > 0) throw new Trouble(`Over budget: ${exceeded.join(', ')}.`);
  });

if (isMain(import.meta)) await main(checkBudgets);
