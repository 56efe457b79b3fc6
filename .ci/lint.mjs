// Checks form and types of everything; with --fix, puts the form right.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkApiPage } from './api-page.mjs';
import { Trouble, isMain, main, root, run, runNpm, step } from './shell.mjs';

/** Every C++ file of ours. */
const cppFiles = () =>
  ['engine', 'bindings', 'tests'].flatMap((directory) =>
    readdirSync(join(root, directory), { recursive: true })
      .filter((name) => /\.(cc|h)$/.test(name))
      .map((name) => join(directory, name)),
  );

export const lint = ({ fix = false } = {}) =>
  step(fix ? 'Format' : 'Lint', () => {
    if (!existsSync(join(root, 'dist/index.d.ts'))) {
      throw new Trouble('The types of the package are made by building it: run "npm run build" first.');
    }
    try {
      run('clang-format-19', [...(fix ? ['-i'] : ['--dry-run', '-Werror']), ...cppFiles()]);
      runNpm('prettier', ['--log-level=warn', fix ? '--write' : '--check', '.']);
    } catch (error) {
      throw new Trouble(`${error.message} "npm run format" puts the form right.`, { cause: error });
    }
    runNpm('eslint', [...(fix ? ['--fix'] : []), '--max-warnings=0', '.']);
    if (fix) return;
    for (const project of ['.', 'web', 'web/service-worker']) runNpm('tsc', ['--project', project]);
    checkApiPage();
  });

if (isMain(import.meta)) await main(() => lint({ fix: process.argv.includes('--fix') }));
