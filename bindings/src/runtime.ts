// What differs between runtimes, as one interface. The entry files choose: see index.ts and node.ts.
import type { ModelCache } from './models/cache.js';
import type { ModelFile } from './models/file.js';
import type { Reply, Request } from './worker/protocol.js';

/** A worker, seen from outside. */
export interface WorkerPort {
  post(request: Request): void;
  /** Whether the process should stay alive for this worker's sake (Node; browsers have no such notion). */
  hold(busy: boolean): void;
  terminate(): void;
}

/** Who is told what a worker says. */
export interface WorkerListener {
  reply(reply: Reply): void;
  /** The worker has ended, or never started. */
  ended(reason: string): void;
}

/** A JavaScript runtime, as far as it concerns us. */
export interface Runtime {
  /** Starts a worker that speaks the protocol. */
  startWorker(listener: WorkerListener): WorkerPort;
  /** Where models are kept between visits; `directory` is for runtimes that have directories. */
  openCache(directory: string | undefined): ModelCache;
  /** The address that a caller means by a path or an address. */
  resolve(location: string | URL): URL;
  /** Opens a local file by its `file:` address. */
  openFile(url: URL): Promise<ModelFile>;
  /** Does the work while nobody else, in any tab, holds the lock of that name. */
  locked<T>(name: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

let current: Runtime | undefined;

/** Called once by the entry file. */
export function useRuntime(runtime: Runtime): void {
  current = runtime;
}

/** The runtime that we are in. */
export function runtime(): Runtime {
  if (!current) throw new Error('Import "octavo" itself, not one of its inner files.');
  return current;
}
