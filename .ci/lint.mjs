// Checks form and types of everything; with --fix, puts the form right.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, main, root, run, step } from './shell.mjs';

/** Every C++ file of ours. */
const cppFiles = () =>
  ['engine', 'bindings', 'tests'].flatMap((directory) =>
    readdirSync(join(root, directory), { recursive: true })
      .filter((name) => /\.(cc|h)$/.test(name))
      .map((name) => join(directory, name)),
  );

export const lint = ({ fix = false } = {}) =>
  step(fix ? 'Format' : 'Lint', () => {
    run('clang-format-19', [...(fix ? ['-i'] : ['--dry-run', '-Werror']), ...cppFiles()]);
    run('npx', ['prettier', '--log-level=warn', fix ? '--write' : '--check', '.']);
    run('npx', ['eslint', ...(fix ? ['--fix'] : []), '--max-warnings=0', '.']);
    if (!fix) run('npx', ['tsc']);
  });

if (isMain(import.meta)) await main(() => lint({ fix: process.argv.includes('--fix') }));
