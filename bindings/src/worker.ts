// The worker in browsers.
import type { ModelHandle, Request } from './worker/protocol.js';
import { serve } from './worker/serve.js';

const channel = new MessageChannel();

serve({
  post: (reply) => {
    postMessage(reply);
  },
  listen: (handler) => {
    addEventListener('message', ({ data }: MessageEvent<Request>) => {
      handler(data);
    });
  },
  open: (model) => Promise.resolve(model).then(openBlob),
  // A message to ourselves: unlike a timer it does not wait, and unlike a promise it lets other messages in.
  pause: () =>
    new Promise((resolve) => {
      channel.port1.onmessage = () => {
        resolve();
      };
      channel.port2.postMessage(null);
    }),
});

function openBlob(model: ModelHandle) {
  if (typeof model === 'string') throw new Error('There are no paths in a browser.');
  return { size: model.size, chunks: chunksOf(model.stream()) };
}

// Not every browser can iterate over a stream by itself.
async function* chunksOf(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}
