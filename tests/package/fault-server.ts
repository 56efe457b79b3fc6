// A web server that serves files as badly as the real world does.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What goes wrong with one request; nothing, if empty. */
export interface Fault {
  /** The connection breaks before there is an answer. */
  noAnswer?: boolean;
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
  /** The answer does not say how long it is. */
  noLength?: boolean;
  /** After the file come zeros, for ever; the answer does not say how long it is, or it lies. */
  endless?: boolean | { length: number };
  /** Fewer (negative) or more bytes than there should be, in a well-formed answer. */
  extraBytes?: number;
  /** Ranges are not understood: the whole file comes. */
  noRange?: boolean;
}

/** What was asked. */
export interface LoggedRequest {
  path: string;
  range: string | undefined;
}

/** Serves files from memory; each fault spoils one request for its path. */
export class FaultServer {
  readonly requests: LoggedRequest[] = [];
  /** How many endless answers were given up by whoever had asked. */
  hungUp = 0;
  readonly #files = new Map<string, Uint8Array>();
  readonly #faults = new Map<string, Fault[]>();
  readonly #server: Server = createServer((request, response) => {
    this.#answer(request, response);
  });

  /** Starts to listen, at any free port. */
  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  url(path: string): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}${path}`;
  }

  put(path: string, data: Uint8Array | string): void {
    this.#files.set(path, typeof data === 'string' ? new TextEncoder().encode(data) : data);
  }

  /** The next requests for the path go wrong, one fault after the other. */
  spoil(path: string, ...faults: Fault[]): void {
    this.#faults.set(path, faults);
  }

  /** The ranges that were asked for; an empty string where none was. */
  ranges(path: string): string[] {
    return this.requests.filter((request) => request.path === path).map(({ range }) => range ?? '');
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    const { range } = request.headers;
    this.requests.push({ path, range });
    const fault = this.#faults.get(path)?.shift() ?? {};
    const file = this.#files.get(path);
    if (fault.noAnswer) {
      request.socket.destroy();
    } else if (fault.redirect !== undefined) {
      response.writeHead(302, { Location: fault.redirect }).end();
    } else if (fault.status !== undefined || !file) {
      response.writeHead(fault.status ?? 404, { 'Content-Type': 'text/plain' }).end('no\n');
    } else {
      this.#send(response, spoiled(file, fault), fault.noRange ? undefined : range, fault);
    }
  }

  #send(response: ServerResponse, file: Uint8Array, range: string | undefined, fault: Fault): void {
    const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    if (range !== undefined && start >= file.length) {
      response.writeHead(416, { 'Content-Range': `bytes */${String(file.length)}` }).end();
      return;
    }
    const body = file.subarray(start);
    const { cutAfter, stallAfter, endless, noLength = endless === true } = fault;
    const length = typeof endless === 'object' ? endless.length : body.length;
    response.writeHead(range === undefined ? 200 : 206, {
      ...(noLength ? {} : { 'Content-Length': length }),
      ...(range === undefined
        ? {}
        : { 'Content-Range': `bytes ${String(start)}-${String(file.length - 1)}/${String(file.length)}` }),
    });
    response.flushHeaders(); // before a cut at 0 bytes, too
    if (endless) {
      response.on('drain', () => response.write(new Uint8Array(64 << 10)));
      response.on('close', () => this.hungUp++);
      response.write(body);
      response.write(new Uint8Array(64 << 10));
    } else if (cutAfter !== undefined) {
      response.write(body.subarray(0, cutAfter), () => setTimeout(() => response.destroy(), 20));
    } else if (stallAfter !== undefined) {
      response.write(body.subarray(0, stallAfter));
    } else {
      response.end(body);
    }
  }
}

function spoiled(file: Uint8Array, { wrongByte, extraBytes = 0 }: Fault): Uint8Array {
  const copy = new Uint8Array(file.length + extraBytes);
  copy.set(file.subarray(0, copy.length));
  if (wrongByte) copy[0] = (copy[0] ?? 0) ^ 1;
  return copy;
}
