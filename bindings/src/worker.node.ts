// The worker in Node.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';
import type { Request } from './worker/protocol.js';
import { serve } from './worker/serve.js';

const port = parentPort;
if (!port) throw new Error('This file is the inside of a worker; import "octavo" instead.');

serve({
  post: (reply) => {
    port.postMessage(reply);
  },
  listen: (handler) => {
    port.on('message', (request: Request) => {
      handler(request);
    });
  },
  open: async (model) => {
    if (typeof model !== 'string')
      return { size: model.size, chunks: model.stream() as AsyncIterable<Uint8Array> & object };
    const { size } = await stat(model);
    return { size, chunks: createReadStream(model, { highWaterMark: 1 << 20 }) };
  },
  // A message to ourselves would not do: Node answers up to a thousand of them before it looks at another port.
  pause: () =>
    new Promise((resolve) => {
      setImmediate(resolve);
    }),
});
