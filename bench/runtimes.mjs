// Where things are measured: the Node that runs npm, a newer one with relaxed SIMD, and headless Chromium.
import { spawnSync } from 'node:child_process';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { Trouble, root, runQuietly, say } from '../.ci/shell.mjs';

const script = join(root, 'bench/measure/node.mjs');

/** Runs a task in a fresh process of some Node. */
function inNode(node, task, settings) {
  const args = ['--expose-gc', '--no-warnings', script, task, JSON.stringify(settings)];
  const result = spawnSync(node, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (result.status !== 0) throw new Trouble(`Measuring "${task}" failed:\n${result.stderr}${result.stdout}`);
  return JSON.parse(result.stdout.trim().split('\n').at(-1));
}

function nodeRuntime(node, variant) {
  const version = runQuietly(node, ['--version']).trim().slice(1);
  return {
    name: `Node ${version.split('.')[0]}`,
    full: `Node ${version}`,
    variant,
    measure: async (task, settings) => inNode(node, task, { variant, ...settings }),
    close: async () => undefined,
  };
}

const types = {
  '.html': 'text/html',
  '.mjs': 'text/javascript',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** Serves the project to the browser, isolated, for then its clock ticks every 5 µs. */
function serveProject() {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    const headers = {
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    };
    if (path === '/')
      return response.writeHead(200, { ...headers, 'Content-Type': 'text/html' }).end('<!doctype html>');
    const file = join(root, path);
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return response.writeHead(404).end();
    response.writeHead(200, {
      ...headers,
      'Content-Type': types[extname(file)] ?? 'application/octet-stream',
      'Content-Length': statSync(file).size,
    });
    return createReadStream(file).pipe(response);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** Chromium, one fresh page per task. */
async function chromiumRuntime(executablePath) {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  const server = await serveProject();
  const address = `http://127.0.0.1:${server.address().port}/`;
  const version = browser.version();
  return {
    name: `Chromium ${version.split('.')[0]}`,
    full: `Chromium ${version}`,
    variant: 'relaxed',
    async measure(task, settings) {
      const page = await browser.newPage();
      try {
        page.setDefaultTimeout(0);
        await page.goto(address);
        return await page.evaluate(
          async ({ task, settings }) => (await import('/bench/measure/tasks.mjs')).measure(task, settings),
          { task, settings: { variant: 'relaxed', ...settings } },
        );
      } finally {
        await page.close();
      }
    },
    async close() {
      await browser.close();
      server.close();
    },
  };
}

/** All runtimes that are here, at least one. */
export async function findRuntimes() {
  const own = process.env.npm_node_execpath ?? process.execPath;
  const newer = join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  const browser = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);
  const runtimes = [nodeRuntime(own, 'simd128')];
  if (existsSync(newer)) runtimes.push(nodeRuntime(newer, 'relaxed'));
  else say('   without a newer Node: there is none for this platform');
  if (browser) runtimes.push(await chromiumRuntime(browser));
  else say('   without Chromium: /usr/bin/chromium is not there');
  return runtimes;
}
