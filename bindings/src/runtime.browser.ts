// Browsers, in pages and in workers.
import { failure } from './errors.js';
import { CacheStorageCache } from './models/cache.browser.js';
import { MemoryCache } from './models/cache.js';
import { scriptAddress } from './place.js';
import type { Runtime } from './runtime.js';
import type { Reply } from './worker/protocol.js';

const withoutCache = new MemoryCache();

/** What a browser offers. */
export const browser: Runtime = {
  startWorker(listener) {
    // Bundlers look for exactly this expression, the second one. Those that do not leave our files to be copied beside theirs.
    const worker =
      typeof import.meta.url === 'undefined'
        ? new Worker(new URL('worker.js', scriptAddress), { type: 'module' })
        : new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      listener.reply(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      // A script that cannot be loaded gives an event without a message.
      listener.ended(event.message || 'its script could not be loaded');
    };
    worker.onmessageerror = () => {
      listener.ended('a message could not be read');
    };
    return {
      post: (request) => {
        worker.postMessage(request);
      },
      hold: () => undefined,
      terminate: () => {
        worker.terminate();
      },
    };
  },

  // Absent where the page is not secure, and in some private windows.
  openCache: () => ((globalThis.caches as CacheStorage | undefined) ? new CacheStorageCache() : withoutCache),

  resolve: (location) => {
    const { document } = globalThis as { document?: Document }; // which workers do not have
    return new URL(location, document?.baseURI ?? globalThis.location.href);
  },

  openFile: (url) => Promise.reject(failure('NotSupportedError', `A browser cannot read ${url.href}.`)),

  locked<T>(name: string, signal: AbortSignal, work: () => Promise<T>) {
    const locks = navigator.locks as LockManager | undefined;
    if (!locks) return work();
    let begun = false;
    const begin = () => {
      begun = true;
      return work();
    };
    // Denied together with storage, as in frames of other sites: there is nothing to guard then.
    return locks.request(name, { signal }, begin).catch((error: unknown) => {
      if (begun || signal.aborted) throw error;
      return work();
    }) as Promise<T>;
  },
};
