// One file over an unreliable network: with progress, and resumed where it was cut.
import { abortable, failure, messageOf } from '../errors.js';
import { receive } from './receive.js';

/** Told how many bytes have arrived, of how many (0 while that is unknown). */
export type Progress = (loaded: number, total: number) => void;

/** What is to be fetched. */
export interface DownloadOptions {
  url: URL;
  /** The promised size, if there is a promise. */
  bytes: number | undefined;
  /** What is longer than this is refused where there is no promise: a host may send for ever. */
  limit: number;
  /** What an earlier attempt got. */
  partial: Blob | undefined;
  signal: AbortSignal;
  onProgress: Progress;
  timing: DownloadTiming;
}

/** When to lose patience, in milliseconds. */
export interface DownloadTiming {
  /** Silence after which a connection is given up. */
  stall: number;
  /** Pause before the second attempt; each further one waits twice as long. */
  pause: number;
  /** Attempts in a row that may bring nothing. */
  attempts: number;
}

export const defaultTiming: DownloadTiming = { stall: 20_000, pause: 300, attempts: 5 };

/** Whether trying again could help. */
class Setback extends Error {}

/** A download in progress. When it fails, `received` still has what did arrive. */
export class Download {
  readonly #options: DownloadOptions;
  readonly #most: number;
  #parts: Blob[] = [];
  /** What the attempt under way has brought; a part when it ends. */
  #chunks: Uint8Array<ArrayBuffer>[] = [];
  #received = 0;
  #total: number;

  constructor(options: DownloadOptions) {
    this.#options = options;
    this.#most = options.bytes ?? options.limit;
    this.#total = options.bytes ?? 0;
    if (options.partial && options.partial.size <= this.#most) {
      this.#parts = [options.partial];
      this.#received = options.partial.size;
    }
  }

  /** What has arrived so far. */
  get received(): Blob {
    return new Blob(this.#parts);
  }

  /** Fetches the whole file, in as many attempts as it takes. */
  async run(): Promise<Blob> {
    const { signal, timing, url, bytes } = this.#options;
    let failures = 0;
    let furthest = this.#received;
    while (bytes === undefined || this.#received < bytes) {
      try {
        await this.#attempt();
        if (bytes === undefined) break;
        if (this.#received < bytes)
          throw new Setback(`it ended after ${String(this.#received)} of ${String(bytes)} bytes`);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Setback)) throw error;
        // Only what is new counts: a server may begin again and again.
        failures = this.#received > furthest ? 1 : failures + 1;
        furthest = Math.max(furthest, this.#received);
        if (failures >= timing.attempts) {
          throw failure('NetworkError', `${url.href} could not be downloaded: ${error.message}.`, error);
        }
        await pause(timing.pause * 2 ** (failures - 1), signal);
      }
    }
    return this.received;
  }

  async #attempt(): Promise<void> {
    const { url, signal, timing } = this.#options;
    const watch = new Watchdog(timing.stall);
    try {
      const headers: HeadersInit = this.#received > 0 ? { Range: `bytes=${String(this.#received)}-` } : {};
      const response = await fetch(url, { headers, signal: AbortSignal.any([signal, watch.signal]) });
      this.#begin(response);
      try {
        await receive(response, (chunk) => {
          watch.reset();
          this.#chunks.push(chunk);
          this.#received += chunk.length;
          this.#checkSize(this.#received);
          this.#options.onProgress(this.#received, this.#total);
        });
      } finally {
        this.#parts.push(new Blob(this.#chunks.splice(0)));
      }
    } catch (error) {
      // fetch speaks of everything that the network does to it in TypeErrors.
      if (error instanceof Setback || (error instanceof DOMException && error.name === 'NetworkError'))
        throw error;
      throw new Setback(watch.signal.aborted ? 'the connection fell silent' : messageOf(error));
    } finally {
      watch.stop();
    }
  }

  /** Looks at what the server says before its first byte. */
  #begin(response: Response): void {
    const { url, bytes } = this.#options;
    const { status } = response;
    if (status === 416) {
      this.#restart();
      throw new Setback('the server cannot resume');
    }
    if (status >= 500 || status === 408 || status === 429)
      throw new Setback(`the server answered ${String(status)}`);
    if (!response.ok)
      throw failure(
        'NetworkError',
        `${url.href} could not be downloaded: the server answered ${String(status)}.`,
      );
    const from = /^bytes (\d+)-/.exec(response.headers.get('Content-Range') ?? '')?.[1];
    // Not every server lets a page of another origin see Content-Range; the checksum will tell.
    const resumed = status === 206 && (from === undefined || Number(from) === this.#received);
    if (!resumed) this.#restart();
    if (bytes === undefined) {
      const length = Number(response.headers.get('Content-Length'));
      this.#total = length > 0 && !response.headers.has('Content-Encoding') ? this.#received + length : 0;
      this.#checkSize(this.#total);
    }
  }

  #restart(): void {
    this.#parts = [];
    this.#chunks = [];
    this.#received = 0;
  }

  /** Fails where there is more than there may be; none of that is worth keeping. */
  #checkSize(size: number): void {
    const { url, bytes } = this.#options;
    if (size <= this.#most) return;
    this.#restart();
    const reason = bytes === undefined ? 'a model can have: choose another' : 'the registry promises';
    throw failure(
      'NetworkError',
      `${url.href} is longer than the ${String(this.#most)} bytes that ${reason}.`,
    );
  }
}

/** Aborts when nobody has said for a while that all is well. */
class Watchdog {
  readonly #controller = new AbortController();
  readonly #patience: number;
  #timer: ReturnType<typeof setTimeout>;

  constructor(patience: number) {
    this.#patience = patience;
    this.#timer = this.#start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  /** Ends the watch, and the connection with it if it is still open. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#controller.abort();
  }

  #start() {
    return setTimeout(() => {
      this.#controller.abort();
    }, this.#patience);
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await abortable(over, signal).finally(() => {
    clearTimeout(timer);
  });
}
