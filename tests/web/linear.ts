// Whether work grows with the length of its input, and not with the square of it.
import { expect } from '@jest/globals';

/** The processor's time, in milliseconds: unlike the clock's it does not depend on what else the machine does. */
async function costOf(work: () => Promise<void>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Expects of work on inputs of the given length that ten times the length takes less than half of the hundred times that a square would. */
export async function expectLinear(name: string, work: (length: number) => Promise<void>): Promise<void> {
  let small = Infinity;
  let large = Infinity;
  let isLinear = false;
  // Compiling and collecting garbage come on top by chance, so that the least of a few counts.
  for (let attempt = 0; attempt < 4 && !isLinear; ++attempt) {
    small = Math.min(small, await costOf(() => work(5_000)));
    large = Math.min(large, await costOf(() => work(50_000)));
    // Below some milliseconds the small one tells nothing.
    isLinear = large <= 48 * Math.max(small, 15);
  }
  expect({ name, small, large, isLinear }).toEqual({ name, small, large, isLinear: true });
}
