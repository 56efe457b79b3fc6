// The command, as a user starts it.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FaultServer } from './fault-server.js';
import { inRepository, temporaryDirectory, tinyModel, tinyServer } from './tiny-model.js';

const tiny = tinyModel();
const directory = temporaryDirectory();
let server: FaultServer;

beforeAll(async () => {
  server = await tinyServer(tiny);
});
afterAll(async () => {
  await server.stop();
  directory.delete();
});

/** Runs the command; the server is in this process, so this has to wait without blocking. */
async function octavo(args: string[], input = '') {
  const env = { ...process.env, OCTAVO_CACHE: join(directory.path, 'cache'), NODE_OPTIONS: '' };
  const child = spawn(process.execPath, [inRepository('dist/cli.js'), ...args], { env });
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (data: string) => (output += data));
  child.stderr.setEncoding('utf8').on('data', (data: string) => (errors += data));
  child.stdin.end(input);
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, output, errors };
}

const withModel = ['--model', tiny.path];

describe('translates', () => {
  test('its arguments', async () => {
    const { status, output, errors } = await octavo(['How', 'are you?', '--to', 'de', ...withModel]);
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    expect(output).toMatch(/^.+\n$/su);
    expect((await octavo(['How are you?', ...withModel])).output).toBe(output);
    expect((await octavo(['How are you?', '--from', 'en-GB', ...withModel])).output).toBe(output);
  });

  test('an argument and a file of the same text', async () => {
    const input = join(directory.path, 'same.txt');
    writeFileSync(input, 'How are you?');
    const { output } = await octavo(['How are you?', '-i', input, ...withModel]);
    expect(output).toMatch(/^(.+)\n\1$/su);
  });

  test('standard input and files, to a file if asked', async () => {
    const text = 'The house.\n\n  It is small.\n';
    const [input, target] = [join(directory.path, 'in.txt'), join(directory.path, 'out.txt')];
    writeFileSync(input, text);
    const { output } = await octavo(withModel, text);
    expect(output).toMatch(/^.+\n\n {2}.+\n$/su);
    expect((await octavo(['-i', input, ...withModel])).output).toBe(output);
    expect((await octavo(['-i', input, '-i', '-', '-o', target, ...withModel], text)).output).toBe('');
    expect(readFileSync(target, 'utf8')).toBe(output + output);
  });

  test('to JSON', async () => {
    const args = ['The house. Is it?', '--json', '--alternatives', '2', '--workers', '2', ...withModel];
    const result = JSON.parse((await octavo(args)).output) as {
      source: string;
      text: string;
      sentences: object[];
    };
    expect(result.source).toBe('The house. Is it?');
    expect(result.sentences).toHaveLength(2);
    expect(result.sentences[0]).toHaveProperty('alternatives');
    expect(result.sentences[0]).toHaveProperty('confidence');
  });

  test('HTML', async () => {
    const { output } = await octavo(['--html', ...withModel], '<p>The <b>house</b>.</p>\n');
    expect(output).toMatch(/^<p>.*<b>.*<\/b>.*<\/p>\n$/su);
  });

  test('with a model that it downloads once', async () => {
    const args = ['The house.', '--to', 'de-AT', '--registry', server.url('/registry.json')];
    const { status, output } = await octavo(args);
    expect(status).toBe(0);
    expect((await octavo(args)).output).toBe(output);
    expect(server.ranges('/tiny.octavo')).toHaveLength(1);
  });
});

test('two at once share the directory of models: both translate, and leave one whole model', async () => {
  const registry = ['--registry', server.url('/registry.json')];
  const cache = join(directory.path, 'cache');
  rmSync(cache, { recursive: true, force: true });
  const runs = await Promise.all([1, 2, 3].map(() => octavo(['The house.', '--to', 'de', ...registry])));
  expect(runs.map(({ status, output }) => [status, output === runs[0]?.output])).toEqual(
    Array(3).fill([0, true]),
  );
  const names = readdirSync(cache).filter((name) => !/^(model|registry)-[\da-f]+\.(octavo|json)$/.test(name));
  expect(names).toEqual([]);
  const before = server.ranges('/tiny.octavo').length;
  expect((await octavo(['The house.', '--to', 'de', ...registry])).output).toBe(runs[0]?.output);
  expect(server.ranges('/tiny.octavo')).toHaveLength(before);
});

// A terminal of its own, by a program that Linux has.
(existsSync('/usr/bin/script') ? test : test.skip)(
  'shows a bar while it downloads, in a terminal',
  async () => {
    const fresh = join(directory.path, 'fresh');
    const args = ['The house.', '--to', 'de', '--registry', server.url('/registry.json')];
    const command = [process.execPath, inRepository('dist/cli.js'), ...args]
      .map((word) => `'${word}'`)
      .join(' ');
    const env = { ...process.env, OCTAVO_CACHE: fresh, NODE_OPTIONS: '' };
    const child = spawn('/usr/bin/script', ['--quiet', '--command', command, '/dev/null'], { env });
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (data: string) => (shown += data));
    await new Promise((resolve) => child.on('close', resolve));
    expect(shown).toMatch(/Downloading the model ░{30} 0\.0 of 0\.1 MB\r/);
    expect(shown).toMatch(/█{30} 0\.1 of 0\.1 MB\s/);
  },
);

test('lists and deletes models', async () => {
  const registry = ['--registry', server.url('/registry.json')];
  await octavo(['The house.', '--to', 'de', ...registry]);
  expect((await octavo(['--list', ...registry])).output).toMatch(
    /^en → de {2}tiny {2}0\.1 MB {2}MIT {2}downloaded: model-/,
  );
  const [model] = JSON.parse((await octavo(['--list', '--json', ...registry])).output) as {
    id: string;
    downloaded: boolean;
  }[];
  expect(model?.downloaded).toBe(true);
  expect((await octavo(['--delete', model?.id ?? '', ...registry])).status).toBe(0);
  expect((await octavo(['--list', ...registry])).output).not.toMatch(/downloaded/);
  expect((await octavo(['--delete', model?.id ?? '', ...registry])).status).toBe(2);
});

test('copies what a page needs beside its scripts', async () => {
  const target = join(directory.path, 'site/scripts');
  expect(await octavo(['--copy', target])).toEqual({ status: 0, output: '', errors: '' });
  const names = readdirSync(target, { recursive: true }) as string[];
  const needed = ['worker.js', 'relaxed/octavo.wasm', 'simd128/octavo.wasm', 'models/en-de/model.octavo'];
  expect(names).toEqual(expect.arrayContaining(needed));
  for (const name of names.filter((name) => name.endsWith('.js'))) {
    for (const [, other] of readFileSync(join(target, name), 'utf8').matchAll(
      /(?:from|import)"\.\/([^"]+)"/g,
    ))
      expect(names).toContain(other);
  }
});

test('tells its version and its use', async () => {
  const { version } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8')) as { version: string };
  expect((await octavo(['--version'])).output).toBe(`${version}\n`);
  expect((await octavo(['-h'])).output).toMatch(/--to <language>/);
});

test.each([
  [['hello'], 2, /--to de/],
  [['hello', '--to', 'de', '--beam', 'x', '--model', tiny.path], 2, /--beam must be/],
  [['hello', '--nonsense'], 2, /nonsense/],
  [['hello', '--to', 'de', '--model', '/no/such/file'], 1, /no model at/],
  [['hello', '--to', 'no tag', '--model', tiny.path], 1, /no tag/],
  [['hello', '--to', 'fr', '--model', tiny.path], 1, /from en to de/],
  [['hello', '--from', 'fr', '--model', tiny.path], 1, /from en to de/],
])('%j ends with status %i and a reason', async (args, status, reason) => {
  const result = await octavo(args);
  expect(result.status).toBe(status);
  expect(result.errors).toMatch(reason);
  expect(result.errors).not.toMatch(/at .*\.js:/);
});

test('a missing file is noticed before anything is downloaded', async () => {
  const before = server.requests.length;
  const args = ['-i', '/no/such/file.txt', '--to', 'de', '--registry', server.url('/registry.json')];
  const { status, errors } = await octavo(args);
  expect(status).toBe(2);
  expect(errors).toMatch(/file\.txt cannot be read/);
  expect(server.requests).toHaveLength(before);
});
