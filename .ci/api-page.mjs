// The page about the npm package's API, made of the comments in its sources: npm run docs writes it, lint compares it.
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Trouble, isMain, main, root, runQuietly, step } from './shell.mjs';

const committed = join(root, 'bindings/API.md');
const made = join(root, 'build/api/API.md');

/** Makes the page in build/api. Fails if a public name has no comment. */
function make() {
  const options = {
    tsconfig: 'bindings/tsconfig.json',
    entryPoints: 'bindings/src/api.ts',
    name: "Octavo's API",
    plugin: 'typedoc-plugin-markdown',
    out: 'build/api',
    readme: 'none',
    sort: 'kind',
    logLevel: 'Warn',
    intentionallyNotExported: 'MainModule', // Emscripten's
    'validation.notDocumented': 'true',
    outputFileStrategy: 'modules',
    entryFileName: 'API',
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
  };
  const flags = ['treatWarningsAsErrors', 'excludePrivate', 'excludeInternal', 'disableSources'];
  const layout = ['hideBreadcrumbs', 'hidePageHeader', 'hideGroupHeadings'];
  runQuietly(join(root, 'node_modules/.bin/typedoc'), [
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
    ...[...flags, ...layout].map((name) => `--${name}`),
  ]);
}

/** Fails unless the committed page is what the sources say. */
export function checkApiPage() {
  make();
  if (readFileSync(made, 'utf8') === readFileSync(committed, 'utf8')) return;
  throw new Trouble('bindings/API.md is not what the sources say: "npm run docs" writes it anew.');
}

if (isMain(import.meta)) {
  await main(() =>
    step('API page', () => {
      make();
      copyFileSync(made, committed);
    }),
  );
}
