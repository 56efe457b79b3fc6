// The package as npm makes it: checked by those who check packages, installed into an empty project, and used there.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inRepository, temporaryDirectory, tinyModel } from './tiny-model.js';

const tiny = tinyModel();
const directory = temporaryDirectory();
const project = join(directory.path, 'project');
const installed = join(project, 'node_modules/octavo');
const tool = (name: string) => inRepository(`node_modules/.bin/${name}`);
let tarball: string;
let unpacked: number;

const run = (command: string, args: string[], cwd = project) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } });
// npm belongs to the Node on the path, which need not be the one that runs us.
const npm = (args: string[], cwd: string) =>
  run('npm', [...args, '--offline', '--no-audit', '--no-fund', '--loglevel=error'], cwd);

beforeAll(() => {
  // Without models: they only make it large.
  const source = join(directory.path, 'dist');
  cpSync(inRepository('dist'), source, { recursive: true, filter: (name) => !name.endsWith('.octavo') });
  const [packed] = JSON.parse(npm(['pack', '--json'], source)) as {
    filename: string;
    unpackedSize: number;
  }[];
  tarball = join(source, packed?.filename ?? '');
  unpacked = packed?.unpackedSize ?? Infinity;
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "name": "empty", "private": true }');
  npm(['install', tarball], project);
}, 60_000);
afterAll(() => {
  directory.delete();
});

test('is not larger than 700 kB without models, and needs no other package', () => {
  expect(unpacked).toBeLessThan(700_000);
  expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
    'octavo',
  ]);
});

test('has no eval, and nothing from where it was built', () => {
  for (const name of readdirSync(installed, { recursive: true }) as string[]) {
    if (!/\.(c?js|ts|map|json|md)$/.test(name)) continue;
    const text = readFileSync(join(installed, name), 'utf8');
    expect(text).not.toMatch(/\beval\(|\bnew Function\(/);
    expect(text).not.toContain(dirname(inRepository('package.json')));
  }
});

test('has source maps that lead to the sources', () => {
  const scripts = readdirSync(installed).filter((name) => name.endsWith('.js'));
  for (const name of scripts) {
    const [, map] = /\/\/# sourceMappingURL=(.+)\n$/.exec(readFileSync(join(installed, name), 'utf8')) ?? [];
    const { sources } = JSON.parse(readFileSync(join(installed, map ?? ''), 'utf8')) as { sources: string[] };
    expect(
      sources.filter((source) => !/bindings\/src\/.*\.ts$|octavo\.mjs$|^included\.js$/.test(source)),
    ).toEqual([]);
  }
});

test('publint has nothing to say', () => {
  expect(run(process.execPath, [tool('publint'), 'run', tarball, '--strict'])).toMatch(/All good/);
}, 30_000);

test('its types suit every way of importing', () => {
  const args = [tool('attw'), tarball, '--format', 'json', '--entrypoints', '.'];
  const { problems } = JSON.parse(run(process.execPath, args)) as { problems?: object };
  expect(problems ?? {}).toEqual({});
}, 60_000);

describe('translates', () => {
  const call = `.create({ model: ${JSON.stringify(tiny.path)} }).then(async (translator) => {
    const { kernel } = translator.engine;
    console.log(JSON.stringify([await translator.translate('The house.'), kernel]));
    translator.destroy();
  });`;
  const expected = () => {
    writeFileSync(join(project, 'a.mjs'), `import { Translator } from 'octavo';\nTranslator${call}`);
    return run(process.execPath, ['a.mjs']);
  };

  test('as an ES module', () => {
    expect(JSON.parse(expected())).toEqual([
      expect.stringMatching(/./),
      expect.stringMatching(/simd128|relaxed|fused/),
    ]);
  });

  test('by require', () => {
    writeFileSync(join(project, 'a.cjs'), `const { Translator } = require('octavo');\nTranslator${call}`);
    expect(run(process.execPath, ['a.cjs'])).toBe(expected());
  });

  test('as a command', () => {
    const [translation] = JSON.parse(expected()) as [string];
    const command = join(project, 'node_modules/.bin/octavo');
    expect(run(process.execPath, [command, 'The house.', '--to', 'de', '--model', tiny.path])).toBe(
      `${translation}\n`,
    );
  });
});

test.each([
  ['bundler', 'esnext', ['a.ts']],
  ['node16', 'node16', ['a.mts', 'a.cts']],
])(
  'compiles with moduleResolution %s',
  (moduleResolution, module, files) => {
    for (const file of files) {
      writeFileSync(
        join(project, file),
        `import { Translator, type Translation, ModelStore } from 'octavo';
        export const result: Promise<Translation> = Translator.create({ sourceLanguage: 'en', targetLanguage: 'de' })
          .then((translator: Translator) => translator.translate('a', { alignment: true }));
        export const models = new ModelStore().list();`,
      );
    }
    const options = { noEmit: true, strict: true, target: 'es2022', lib: ['es2023', 'dom'], types: [] };
    const config = { compilerOptions: { ...options, module, moduleResolution }, files };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    run(process.execPath, [tool('tsc'), '--project', '.']);
  },
  30_000,
);

test('the example for Node runs', () => {
  cpSync(inRepository('bindings/examples/node/translate-file.mjs'), join(project, 'translate-file.mjs'));
  cpSync(inRepository('dist/models'), join(installed, 'models'), { recursive: true });
  writeFileSync(join(project, 'letter.txt'), 'The octavo house costs 42 euros.\n\n  It is small.\n');
  expect(run(process.execPath, ['translate-file.mjs', 'letter.txt'])).toMatch(/^.*Octavo.*\n\n {2}.+\n$/su);
});

test('exports the engine itself, and its worker', () => {
  const names = ['simd128/octavo.wasm', 'relaxed/octavo.wasm', 'worker.js', 'package.json'];
  writeFileSync(
    join(project, 'b.mjs'),
    `console.log(${names.map((name) => `import.meta.resolve('octavo/${name}')`).join()})`,
  );
  for (const name of names)
    expect(run(process.execPath, ['b.mjs'])).toContain(`/node_modules/octavo/${name}`);
});
