// A small static web server for the built page, as `npm start` shows it.
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { page } from './page.mjs';

const types = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
};

/** The file that a request asks for, or undefined. Paths cannot leave the served directory. */
function find(url) {
  let path;
  try {
    path = normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname));
  } catch {
    return undefined;
  }
  const file = join(page, path, path.endsWith('/') ? 'index.html' : '');
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
}

/** Where an answer begins, if only the rest of a file is asked for: so are downloads resumed. */
const startOf = ({ headers: { range } }) => Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);

function answer(request, response) {
  const file = find(request.url);
  if (!file) {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not found\n');
    return;
  }
  const brotli = `${file}.br`;
  const compressed =
    /\bbr\b/.test(request.headers['accept-encoding'] ?? '') &&
    statSync(brotli, { throwIfNoEntry: false })?.isFile();
  const sent = compressed ? brotli : file;
  const { size } = statSync(sent);
  const start = compressed ? 0 : startOf(request);
  if (start > 0 && start >= size) {
    response.writeHead(416, { 'Content-Range': `bytes */${size}` }).end();
    return;
  }
  response.writeHead(start > 0 ? 206 : 200, {
    'Content-Type': types[extname(file)] ?? 'application/octet-stream',
    'Content-Length': size - start,
    'Cache-Control': 'no-cache',
    Vary: 'Accept-Encoding',
    ...(compressed ? { 'Content-Encoding': 'br' } : {}),
    ...(start > 0 ? { 'Content-Range': `bytes ${start}-${size - 1}/${size}` } : {}),
  });
  createReadStream(sent, { start }).pipe(response);
}

/** Serves at the wished port, or at the next free one; resolves with the address. */
export function serve(port = Number(process.env.PORT ?? 8080)) {
  const server = createServer(answer);
  return new Promise((resolve, reject) => {
    server.on('error', (error) => {
      if (error.code !== 'EADDRINUSE') reject(error);
      else server.listen(++port, 'localhost');
    });
    server.on('listening', () => resolve(`http://localhost:${server.address().port}/`));
    server.listen(port, 'localhost'); // nobody else's business
  });
}
