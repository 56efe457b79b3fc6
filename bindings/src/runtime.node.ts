// Node, and runtimes that are like it.
import { stat, readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { failure, messageOf } from './errors.js';
import { DirectoryCache, defaultDirectory } from './models/cache.node.js';
import type { Runtime } from './runtime.js';
import type { Reply } from './worker/protocol.js';

/** What Node offers. */
export const node: Runtime = {
  startWorker(listener) {
    const worker = new Worker(new URL('./worker.node.js', import.meta.url), {
      execArgv: [], // those of the program, such as --input-type, may not suit a worker
    });
    worker.on('message', (reply: Reply) => {
      listener.reply(reply);
    });
    worker.on('error', (error) => {
      listener.ended(messageOf(error));
    });
    worker.on('exit', (code) => {
      listener.ended(`it ended with code ${String(code)}`);
    });
    return {
      post: (request) => {
        worker.postMessage(request);
      },
      // An idle worker does not keep a program from ending.
      hold: (busy) => {
        if (busy) worker.ref();
        else worker.unref();
      },
      terminate: () => {
        void worker.terminate();
      },
    };
  },

  openCache: (directory) => new DirectoryCache(directory ?? defaultDirectory()),

  resolve: (location) =>
    location instanceof URL || /^[a-z][a-z\d+.-]+:/i.test(location)
      ? new URL(location)
      : pathToFileURL(location),

  async openFile(url) {
    const path = fileURLToPath(url);
    try {
      const found = await stat(path);
      if (!found.isFile()) throw new Error('It is not a file.');
      const { size } = found;
      return { size, handle: path, read: async () => new Uint8Array(await readFile(path)) };
    } catch (error) {
      throw failure('NetworkError', `There is no model at ${path}.`, error);
    }
  },

  // Two processes that download the same model both succeed: each renames its own file into place.
  locked: (_name, _signal, work) => work(),
};
