// Long texts are worked on in slices, so that a page can draw and react in between.

// How many milliseconds in a row are ours.
const patience = 12;
let begun = -Infinity;

const waiting: (() => void)[] = [];

/** Has the event loop call the next of those who wait. Not by a timer: in a hidden page those come once a second. */
const callNext: () => void = (() => {
  const next = () => waiting.shift()?.();
  const { setImmediate } = globalThis as { setImmediate?: (work: () => void) => unknown };
  if (setImmediate) return () => setImmediate(next); // Node, which a channel would keep alive
  const channel = new MessageChannel();
  channel.port1.onmessage = next;
  return () => {
    channel.port2.postMessage(null);
  };
})();

/** To be awaited between two pieces of work: lets others have their turn, if it is time for that, and stops if they said so. */
export async function breathe(signal?: AbortSignal): Promise<void> {
  if (performance.now() >= begun + patience) {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      callNext();
    });
    begun = performance.now();
  }
  signal?.throwIfAborted();
}
