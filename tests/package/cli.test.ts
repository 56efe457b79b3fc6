// The command, as a user starts it.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FaultServer } from './fault-server.js';
import { inRepository, temporaryDirectory, tinyModel } from './tiny-model.js';

const tiny = tinyModel();
const directory = temporaryDirectory();
let server: FaultServer;

beforeAll(async () => {
  server = await new FaultServer().start();
  const sha256 = createHash('sha256').update(tiny.bytes).digest('hex');
  const model = {
    source: 'en',
    target: 'de',
    name: 'tiny',
    file: 'tiny.octavo',
    bytes: tiny.bytes.length,
    sha256,
  };
  server.put('/registry.json', JSON.stringify({ version: 1, models: [{ ...model, license: 'MIT' }] }));
  server.put('/tiny.octavo', tiny.bytes);
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
])('%j ends with status %i and a reason', async (args, status, reason) => {
  const result = await octavo(args);
  expect(result.status).toBe(status);
  expect(result.errors).toMatch(reason);
  expect(result.errors).not.toMatch(/at .*\.js:/);
});
