// npm run soak: hours of use in minutes, in one Node process and in one tab of Chromium, and a verdict.
//   npm run soak -- --translations 20000 --lives 200 --only node
import { spawnSync } from 'node:child_process';
import { createReadStream, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { Trouble, main, root, say, step } from '../../.ci/shell.mjs';

/** Memory may not grow by more than this: what a day of heavy use would not notice. */
const limits = { bytesPerTranslation: 200, bytesPerLife: 40_000, slowdown: 1.25 };

function inNode(numbers) {
  // V8 may hold tens of megabytes of young objects in each thread before it looks for dead ones, and the allocator what each
  // thread has given back: neither is a leak.
  const args = ['--expose-gc', '--max-semi-space-size=1', 'tests/soak/node.mjs', JSON.stringify(numbers)];
  const { stdout, status } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, MALLOC_ARENA_MAX: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = stdout.trimEnd().split('\n');
  say(lines.slice(0, status === 0 ? -1 : undefined).join('\n'));
  if (status !== 0) throw new Trouble('The soak in Node has failed: see above.');
  return JSON.parse(lines.at(-1));
}

/** The repository as a web site: all that a tab needs. */
function site() {
  const types = {
    '.js': 'text/javascript',
    '.json': 'application/json',
    '.mjs': 'text/javascript',
    '.wasm': 'application/wasm',
  };
  const server = createServer((request, response) => {
    const file = join(root, new URL(request.url, 'http://localhost').pathname);
    if (!file.startsWith(root) || !statSync(file, { throwIfNoEntry: false })?.isFile())
      return response.writeHead(404).end();
    response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(response);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** Runs in the tab. */
async function inPage(numbers) {
  const workers = new Set();
  const { Worker } = globalThis;
  globalThis.Worker = class extends Worker {
    constructor(...args) {
      super(...args);
      workers.add(this);
    }
    terminate() {
      super.terminate();
      workers.delete(this);
    }
  };
  const [{ Translator }, { soak }] = await Promise.all([
    import('/dist/index.js'),
    import('/tests/soak/phases.mjs'),
  ]);
  const model = await (await fetch('/models/en-de/model.octavo')).arrayBuffer();
  return soak(
    {
      create: (count) => Translator.create({ model, workers: count }),
      kill: (share) => {
        const worker = [...workers][Math.floor(share * workers.size)];
        worker?.terminate();
        worker?.dispatchEvent(new ErrorEvent('error', { message: 'killed' })); // as a crash would
      },
      workers: () => workers.size,
      memory: () => globalThis.memoryOfTab(),
      say: (line) => console.log(line),
    },
    numbers,
  );
}

async function inChromium(numbers) {
  const { chromium } = await import('playwright-core');
  const server = await site();
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args,
  });
  try {
    const page = await browser.newPage();
    page.on('console', (message) => say(`   ${message.text()}`));
    const session = await page.context().newCDPSession(page);
    await page.exposeFunction('memoryOfTab', async () => {
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize, backingStorageSize = 0 } = await session.send('Runtime.getHeapUsage');
      return usedSize + backingStorageSize;
    });
    await page.goto(`http://localhost:${server.address().port}/package.json`);
    return await page.evaluate(inPage, numbers);
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}

await main(async () => {
  const number = (preset) => ({ type: 'string', default: String(preset) });
  const { values } = parseArgs({
    options: {
      translations: number(20_000),
      lives: number(200),
      kills: number(100),
      callers: number(100),
      rounds: number(10),
      only: { type: 'string' },
    },
  });
  const { only, ...counts } = values;
  const numbers = Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, Number(value)]));
  const bad = Object.entries(numbers).find(([, value]) => !(value >= 1));
  if (bad) throw new Trouble(`--${bad[0]} takes a positive number.`);
  const runtimes = { node: inNode, chromium: inChromium };
  if (only !== undefined && !(only in runtimes)) throw new Trouble('--only takes node or chromium.');

  const results = {};
  for (const [name, run] of Object.entries(runtimes)) {
    if (only !== undefined && only !== name) continue;
    await step(`Soak in ${name}`, async () => {
      results[name] = await run(numbers);
      say(JSON.stringify(results[name], null, 2));
    });
  }
  writeFileSync(join(root, 'build/reports/soak.json'), `${JSON.stringify(results, null, 2)}\n`);
  for (const [name, result] of Object.entries(results)) {
    for (const [measure, limit] of Object.entries(limits)) {
      if (!(result[measure] <= limit))
        throw new Trouble(`${name}: ${measure} is ${result[measure]}, more than ${limit}.`);
    }
  }
});
