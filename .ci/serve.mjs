// A small static web server for the page: web/ at /, the npm package at /octavo/.
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { root } from './shell.mjs';

const types = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** The file that a request asks for, or undefined. Paths cannot leave the served directories. */
function find(url) {
  let path;
  try {
    path = normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname));
  } catch {
    return undefined;
  }
  const file = path.startsWith('/octavo/')
    ? join(root, 'dist', path.slice('/octavo/'.length))
    : join(root, 'web', path);
  const candidates = path.endsWith('/') ? [join(file, 'index.html')] : [file];
  return candidates.find((name) => statSync(name, { throwIfNoEntry: false })?.isFile());
}

/** Serves at the wished port, or at the next free one; resolves with the address. */
export function serve(port = Number(process.env.PORT ?? 8080)) {
  const server = createServer((request, response) => {
    const file = find(request.url);
    if (!file) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not found\n');
      return;
    }
    response.writeHead(200, {
      'Content-Type': types[extname(file)] ?? 'application/octet-stream',
      'Cache-Control': 'no-cache',
    });
    createReadStream(file).pipe(response);
  });
  return new Promise((resolve, reject) => {
    server.on('error', (error) => {
      if (error.code !== 'EADDRINUSE') reject(error);
      else server.listen(++port);
    });
    server.on('listening', () => resolve(`http://localhost:${server.address().port}/`));
    server.listen(port);
  });
}
