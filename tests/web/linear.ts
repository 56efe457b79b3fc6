// Whether work grows with the length of its input, and not with the square of it.
import { expect } from '@jest/globals';

/** The processor's time, in milliseconds: unlike the clock's it does not depend on what else the machine does. */
async function costOf(work: () => Promise<void>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Expects of work on inputs of the given length that ten times the length takes at most some thirty times as long. */
export async function expectLinear(name: string, work: (length: number) => Promise<void>): Promise<void> {
  const small = await costOf(() => work(5_000));
  const large = await costOf(() => work(50_000));
  // Below some milliseconds the small one tells nothing.
  expect({ name, small, large, isLinear: large <= 30 * Math.max(small, 15) }).toEqual({
    name,
    small,
    large,
    isLinear: true,
  });
}
