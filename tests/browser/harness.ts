// What browser tests share: a static web site that can be spoilt and stopped, and the browser.
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The strictest policy that Octavo runs under: no inline code, no eval, nothing from elsewhere. */
export const strictPolicy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; " +
  "style-src 'self'; img-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'";

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
};

/** What goes wrong with one request. */
export interface Fault {
  /** The connection breaks after so many bytes of the answer. */
  cutAfter?: number;
  /** Nothing more comes after so many bytes, but the connection stays. */
  stallAfter?: number;
  /** An answer without the file. */
  status?: number;
  /** The file at another address. */
  redirect?: string;
  /** The first byte is another one. */
  wrongByte?: boolean;
}

/** A static web site: directories by the prefix of the path under which they are served, such as `{ '/': 'web/dist' }`. */
export class Site {
  readonly #directories: [prefix: string, directory: string][];
  readonly #headers: Record<string, string>;
  readonly #faults = new Map<string, Fault[]>();
  readonly requests: { path: string; range: string | undefined }[] = [];
  #server: Server | undefined;
  #port = 0;

  constructor(
    directories: Record<string, string>,
    headers: Record<string, string> = { 'Content-Security-Policy': strictPolicy },
  ) {
    // The longest prefix is the one that counts.
    this.#directories = Object.entries(directories).sort(([a], [b]) => b.length - a.length);
    this.#headers = headers;
  }

  /** Starts to listen: at any free port, later at the same one again. */
  async start(): Promise<this> {
    const server = createServer((request, response) => {
      this.#answer(request, response);
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  url(path = '/'): string {
    return `http://localhost:${String(this.#port)}${path}`;
  }

  /** The next requests for the path go wrong, one fault after the other. */
  spoil(path: string, ...faults: Fault[]): void {
    this.#faults.set(path, faults);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname));
    const { range } = request.headers;
    this.requests.push({ path, range });
    const fault = this.#faults.get(path)?.shift() ?? {};
    const file = this.#find(path);
    if (fault.redirect !== undefined) {
      response.writeHead(302, { ...this.#headers, Location: fault.redirect }).end();
      return;
    }
    if (fault.status !== undefined || !file) {
      response.writeHead(fault.status ?? 404, { 'Content-Type': 'text/plain' }).end('no\n');
      return;
    }
    const data = readFileSync(file);
    if (fault.wrongByte) data[0] = (data[0] ?? 0) ^ 1;
    const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    const body = data.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, {
      ...this.#headers,
      'Content-Type': types[extname(file)] ?? 'application/octet-stream',
      'Content-Length': body.length,
      'Cache-Control': 'no-cache',
      ...(start > 0
        ? { 'Content-Range': `bytes ${String(start)}-${String(data.length - 1)}/${String(data.length)}` }
        : {}),
    });
    const most = fault.cutAfter ?? fault.stallAfter;
    if (most === undefined) {
      response.end(body);
    } else {
      response.write(body.subarray(0, most), () => {
        // Not at once: what was sent would get lost on its way.
        if (fault.cutAfter !== undefined) setTimeout(() => response.destroy(), 50);
      });
    }
  }

  #find(path: string): string | undefined {
    const [prefix, directory] = this.#directories.find(([start]) => path.startsWith(start)) ?? [];
    if (prefix === undefined || directory === undefined) return undefined;
    const file = join(directory, path.slice(prefix.length), path.endsWith('/') ? 'index.html' : '');
    return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
  }
}

/** Debian's Chromium, or another one that is named by the environment. */
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Starts the browser. Its sandbox does not work for root. */
export function launch(): Promise<Browser> {
  if (!existsSync(executablePath)) throw new Error(`There is no browser at ${executablePath}.`);
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args });
}

/** Keeps what a page looks like in build/screenshots, for people to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  const directory = join(root, 'build/screenshots');
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`) });
}

/** Collects what a page complains about: console errors and warnings, uncaught errors, violated policies. */
export function complaints(page: Page): string[] {
  const list: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) list.push(message.text());
  });
  page.on('pageerror', (error) => list.push(error.message));
  return list;
}
