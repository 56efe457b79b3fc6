// Time, and how it is taken: alternating rounds, so that a change in the machine's speed hits all contestants alike.

/** Milliseconds: CPU time of this process in Node, which other programs do not disturb; wall time in browsers. */
export const now = globalThis.process?.cpuUsage
  ? () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    }
  : () => performance.now();

const sorted = (values) => [...values].sort((a, b) => a - b);
const quantile = (values, q) => sorted(values)[Math.round(q * (values.length - 1))];

/** The least of some numbers, their median, and the quartiles around it. */
export const summary = (values) => ({
  least: quantile(values, 0),
  median: quantile(values, 0.5),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
});

/** The milliseconds of each contestant's `run`, in alternating rounds; the first round warms up and does not count. */
export async function interleaved(contestants, rounds) {
  const samples = contestants.map(() => []);
  for (let round = 0; round <= rounds; ++round) {
    for (const [i, { run }] of contestants.entries()) {
      const start = now();
      await run();
      if (round > 0) samples[i].push(now() - start);
    }
  }
  return samples.map(summary);
}

/**
 * The same for things that take microseconds: each `run(times)` is called with as many times as fill a window, and the
 * milliseconds are those of a single time.
 */
export async function interleavedOften(contestants, { rounds, window }) {
  const times = [];
  for (const { run } of contestants) {
    let count = 1;
    for (;;) {
      const start = now();
      await run(count);
      const took = now() - start;
      if (took > window / 2) {
        times.push(Math.max(1, Math.round((count * window) / took)));
        break;
      }
      count *= took < window / 16 ? 8 : 2;
    }
  }
  const measured = await interleaved(
    contestants.map(({ run }, i) => ({ run: () => run(times[i]) })),
    rounds,
  );
  return measured.map((time, i) =>
    Object.fromEntries(Object.entries(time).map(([key, value]) => [key, value / times[i]])),
  );
}
