// Workers: nothing blocks, everything settles, whatever dies is replaced.
import { execFileSync } from 'node:child_process';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Translator } from '../../dist/node.js';
import type { ModelFile } from '../../dist/models/file.js';
import { WorkerPool } from '../../dist/pool.js';
import { node } from '../../dist/runtime.node.js';
import { type WorkerListener, type WorkerPort, useRuntime } from '../../dist/runtime.js';
import { greedySearch, inRepository, rejection, tinyModel } from './tiny-model.js';

const tiny = tinyModel();
const file: ModelFile = {
  size: tiny.bytes.length,
  handle: tiny.path,
  read: () => Promise.resolve(tiny.bytes),
};
// Takes seconds, and has no full stop in it.
const longSentence = 'and so it goes '.repeat(4000);
const slow = { ...greedySearch, beam: 32 };

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Workers that were started, with the means to hurt them. */
const started: { port: WorkerPort; listener: WorkerListener }[] = [];
let breakStart = 0;
let breakLoad = 0;
let pool: WorkerPool;

beforeAll(() => {
  useRuntime({
    ...node,
    startWorker(listener) {
      if (breakStart-- > 0) throw new Error('no more threads');
      const port = node.startWorker(listener);
      started.push({ port, listener });
      if (breakLoad-- > 0)
        return {
          ...port,
          post: () => {
            port.terminate();
          },
        };
      return port;
    },
  });
});
const newPool = (workers = 1) => new WorkerPool({ model: file, workers, variant: undefined, kernel: '' });
beforeEach(() => {
  started.length = breakStart = breakLoad = 0;
  pool = newPool();
});
afterEach(() => {
  pool.destroy();
});

describe('an abort', () => {
  test('is answered at once, and the worker is free within 50 ms, mid-sentence', async () => {
    await pool.start(undefined);
    const delays: number[] = [];
    // Other programs may take the processor away from us now and then: the best of a few, of more on a busy machine.
    for (let i = 0; i < 5 || (i < 20 && Math.min(...delays) >= 50); ++i) {
      const controller = new AbortController();
      const translation = rejection(pool.translate([longSentence], slow, controller.signal));
      await sleep(60);
      const start = performance.now();
      controller.abort();
      expect((await translation).name).toBe('AbortError');
      expect(await pool.count(['free again'])).toHaveLength(1);
      delays.push(performance.now() - start);
    }
    expect(Math.min(...delays)).toBeLessThan(50);
    expect(started).toHaveLength(1);
  });

  test('takes a waiting task out of the queue', async () => {
    await pool.start(undefined);
    const first = new AbortController();
    const second = new AbortController();
    const running = rejection(pool.translate([longSentence], slow, first.signal));
    const waiting = rejection(pool.translate([longSentence], slow, second.signal));
    second.abort(new Error('mine'));
    expect((await waiting).message).toBe('mine');
    first.abort();
    expect((await running).name).toBe('AbortError');
    expect((await rejection(pool.count(['a'], AbortSignal.abort()))).name).toBe('AbortError');
    expect((await pool.translate(['The house.'], greedySearch))[0]?.alternatives[0]?.text).toBeTruthy();
  });

  test('stops the start', async () => {
    const controller = new AbortController();
    const start = rejection(pool.start(controller.signal));
    controller.abort();
    expect((await start).name).toBe('AbortError');
  });
});

test('the main thread is free while a worker translates', async () => {
  await pool.start(undefined);
  let turns = 0;
  const timer = setInterval(() => ++turns, 5);
  const controller = new AbortController();
  const translation = rejection(pool.translate([longSentence], slow, controller.signal));
  await sleep(300);
  controller.abort();
  await translation;
  clearInterval(timer);
  expect(turns).toBeGreaterThan(15);
});

describe('a worker that dies', () => {
  test('takes its task with it, and is replaced', async () => {
    await pool.start(undefined);
    const [expected] = await pool.translate(['The house.'], greedySearch);
    const lost = rejection(pool.translate([longSentence], slow));
    const waiting = pool.translate(['The house.'], greedySearch);
    await sleep(30);
    started[0]?.port.terminate();
    const error = await lost;
    expect(error.name).toBe('OperationError');
    expect(error.message).toMatch(/crashed/);
    expect(await waiting).toEqual([expected]);
    expect(started).toHaveLength(2);
  });

  test('is replaced also when it was idle', async () => {
    await pool.start(undefined);
    started[0]?.port.terminate();
    await sleep(50);
    expect(await pool.count(['a'])).toHaveLength(1);
    expect(started).toHaveLength(2);
  });

  test('in WebAssembly says so', async () => {
    await pool.start(undefined);
    const lost = rejection(pool.translate([longSentence], slow));
    started[0]?.listener.reply({ type: 'crashed', reason: 'unreachable executed' });
    expect((await lost).message).toMatch(/unreachable executed/);
    expect(await pool.count(['a'])).toHaveLength(1);
  });

  test('does not trouble the others', async () => {
    pool = newPool(3);
    await pool.start(undefined);
    const tasks = [1, 2, 3, 4, 5].map((i) =>
      pool.translate([`${longSentence.slice(0, 3000)} ${String(i)}`], greedySearch),
    );
    started[1]?.port.terminate();
    const outcomes = await Promise.allSettled(tasks);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(started).toHaveLength(4);
  });

  test('and cannot be replaced fails the task, not the next one', async () => {
    await pool.start(undefined);
    breakStart = 1;
    started[0]?.port.terminate();
    await sleep(50);
    expect((await rejection(pool.count(['a']))).message).toMatch(/could not be started/);
    breakLoad = 1;
    expect((await rejection(pool.count(['a']))).message).toMatch(/crashed/);
    expect(await pool.count(['a'])).toHaveLength(1);
  });

  test('while starting rejects the start', async () => {
    breakLoad = 1;
    expect((await rejection(pool.start(undefined))).name).toBe('OperationError');
  });
});

test('a model that is refused is told about, with any number of workers', async () => {
  const broken = { ...file, handle: new Blob([tiny.bytes.slice(0, 30_000)]) };
  for (const workers of [1, 3]) {
    const other = new WorkerPool({ model: broken, workers, variant: undefined, kernel: '' });
    const error = await rejection(other.start(undefined));
    expect([error.name, error.message]).toEqual(['OperationError', expect.stringMatching(/truncated/)]);
  }
});

test('an abort stops also what is still being prepared', async () => {
  const translator = await Translator.create({ model: tiny.path });
  const html = '<p>Dr. Smith paid <b>3.50</b> for https://example.com/a?b=1 in 1990.</p>'.repeat(20_000);
  const delays: number[] = [];
  for (let i = 0; i < 3 || (i < 20 && Math.min(...delays) >= 50); ++i) {
    const controller = new AbortController();
    const translation = rejection(translator.translateHTML(html, { signal: controller.signal }));
    await sleep(200);
    const start = performance.now();
    controller.abort();
    expect((await translation).name).toBe('AbortError');
    delays.push(performance.now() - start);
  }
  translator.destroy();
  expect(Math.min(...delays)).toBeLessThan(50);
});

test('destroy rejects what is pending and all that comes after', async () => {
  const translator = await Translator.create({ model: tiny.path, workers: 2 });
  const long = 'This goes on and on. '.repeat(3000);
  const reader = translator.translateStreaming(long).getReader();
  const pending = [
    translator.translate(long),
    translator.translateBatch([long, long]),
    translator.translateHTML(`<p>${long}</p>`),
    translator.measureInputUsage('x'),
    reader.read().then(() => reader.closed),
  ].map((promise) =>
    Promise.resolve(promise).then(
      () => 'done',
      (error: unknown) => (error as Error).name,
    ),
  );
  translator.destroy();
  translator.destroy();
  expect(await Promise.all(pending)).toEqual(Array(5).fill('AbortError'));
  for (const call of [
    translator.translate('a'),
    translator.translateBatch(['a']),
    translator.measureInputUsage('a'),
  ]) {
    expect((await rejection(call)).name).toBe('InvalidStateError');
  }
  expect((await rejection(translator.translateStreaming('a').getReader().read())).name).toBe(
    'InvalidStateError',
  );
  expect(translator.engine.memoryBytes).toBe(0);
});

test('a program ends by itself, although it has not destroyed its translator', () => {
  const script = `
    import { Translator } from ${JSON.stringify(inRepository('dist/node.js'))};
    const translator = await Translator.create({ model: ${JSON.stringify(tiny.path)} });
    console.log((await translator.translate('The house.')).length > 0);`;
  const args = ['--no-warnings', '--input-type=module', '--eval', script];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 20_000 })).toBe('true\n');
});
