// What the engine may weigh at most, in bytes. A page pays this before the first word is translated.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { wasmBuilds } from './build.mjs';
import { Trouble, isMain, main, root, say, step } from './shell.mjs';

const plain = (bytes) => bytes.length;
const brotli = (bytes) => brotliCompressSync(bytes).length;

const budgets = [
  { file: 'octavo.wasm', form: 'raw', size: plain, most: 450_000 },
  { file: 'octavo.wasm', form: 'brotli', size: brotli, most: 170_000 },
  { file: 'octavo.mjs', form: 'raw', size: plain, most: 40_000 },
];

export const checkBudgets = () =>
  step('Size budget', () => {
    const exceeded = [];
    for (const build of Object.keys(wasmBuilds)) {
      for (const { file, form, size, most } of budgets) {
        const name = `${build}/${file}`;
        const bytes = size(readFileSync(join(root, 'dist', name)));
        say(`   ${name.padEnd(20)} ${form.padEnd(6)} ${String(bytes).padStart(7)} of ${most}`);
        if (bytes > most) exceeded.push(`${name} (${form}) by ${bytes - most} bytes`);
      }
    }
    if (exceeded.length > 0) throw new Trouble(`Over budget: ${exceeded.join(', ')}.`);
  });

if (isMain(import.meta)) await main(checkBudgets);
