// What a soak consists of, for any runtime: many translations, many lives, workers that die, callers who change their mind.
// Each phase returns what was measured and throws if something was lost, mixed up or never settled.

const adjectives = ['small', 'old', 'new', 'red', 'quiet', 'large', 'cheap', 'warm'];
const things = ['house', 'garden', 'letter', 'street', 'bridge', 'window', 'ticket', 'train'];

/** A sentence by its number; there are some thousands of them. */
export const sentence = (n) =>
  `The ${adjectives[n % 8]} ${things[(n >> 3) % 8]} has ${n % 997} ${things[(n >> 6) % 8]}s, and ${n % 13} are ${adjectives[(n >> 9) % 8]}.`;

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** The slope of the line through (i, y_i), as Theil and Sen find it: the median over all pairs, for which a leak is
 * everywhere, and an allocator that takes one more block is once. */
export const slope = (values) =>
  median(values.flatMap((y, i) => values.slice(0, i).map((earlier, j) => (y - earlier) / (i - j))));

/** Numbers that are the same in every run. */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** One translation after another: memory must not grow, and the last must not be slower than the first. */
export async function manyTranslations({ create, memory, say }, count) {
  const translator = await create(1);
  const every = Math.max(1, count / 40);
  const sizes = [];
  const times = [];
  let start = performance.now();
  for (let n = 0; n < count; ++n) {
    if ((await translator.translate(sentence(n))) === '') throw new Error(`no translation of sentence ${n}`);
    if ((n + 1) % every !== 0) continue;
    times.push((performance.now() - start) / every);
    sizes.push((await memory()) + translator.engine.memoryBytes);
    say(`${n + 1} translations, ${times.at(-1).toFixed(1)} ms each, ${(sizes.at(-1) / 1e6).toFixed(1)} MB`);
    start = performance.now();
  }
  translator.destroy();
  const later = sizes.slice(sizes.length / 4); // the first quarter warms up
  const tenth = Math.ceil(times.length / 10);
  return {
    translations: count,
    bytesPerTranslation: slope(later) / every,
    slowdown: median(times.slice(-2 * tenth)) / median(times.slice(tenth, 3 * tenth)),
  };
}

/** Waits for something that must happen; a soak that hangs would say nothing. */
function inTime(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} is still not done after two minutes`)), 120_000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function allGone(workers) {
  while (workers() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** What a translator of its own says: those under test remember what they have been asked, and would not work for it
 * again. And the milliseconds that a sentence takes here, for what shall happen while others are being translated. */
async function translations(create, count) {
  const translator = await create(1);
  const start = performance.now();
  const expected = await translator.translateBatch(Array.from({ length: count }, (_, n) => sentence(n)));
  const each = (performance.now() - start) / count;
  translator.destroy();
  return { expected, each };
}

/** Creating, using and destroying a translator again and again. */
export async function manyLives({ create, memory, workers, say }, count) {
  const every = Math.max(1, count / 20);
  const sizes = [];
  for (let n = 0; n < count; ++n) {
    const translator = await create(1);
    if ((await translator.translate(sentence(n))) === '') throw new Error(`no translation in life ${n}`);
    translator.destroy();
    await inTime(allGone(workers), `the end of life ${n}`);
    if ((n + 1) % every !== 0) continue;
    sizes.push(await memory());
    say(`${n + 1} lives, ${(sizes.at(-1) / 1e6).toFixed(1)} MB`);
  }
  return { lives: count, bytesPerLife: slope(sizes.slice(sizes.length / 4)) / every };
}

/** Workers are killed while they translate: every promise settles, results are right or an error says what happened. */
export async function deadWorkers({ create, kill, say }, count) {
  const together = 6;
  const { expected, each } = await translations(create, count * together + 1);
  const translator = await create(2);
  const next = random(5);
  const outcome = { asked: 0, killed: 0, failed: 0 };
  let dying;
  while (outcome.killed < count) {
    const numbers = Array.from({ length: together }, () => outcome.asked++);
    const pending = Promise.allSettled(numbers.map((n) => translator.translate(sentence(n))));
    await new Promise((resolve) => setTimeout(resolve, next() * each * together));
    dying = kill(next());
    ++outcome.killed;
    for (const [i, { status, value, reason }] of (await inTime(pending, 'a translation')).entries()) {
      if (status === 'fulfilled' && value !== expected[numbers[i]]) throw new Error(`mixed up: ${value}`);
      if (status === 'rejected' && reason.name !== 'OperationError') throw reason;
      outcome.failed += status === 'rejected';
    }
  }
  if (outcome.failed === 0) throw new Error('no worker was killed while it translated');
  await dying; // in Node that takes a while, and who gives it work meanwhile may lose it
  if ((await inTime(translator.translate(sentence(outcome.asked)), 'a translation')) !== expected.at(-1))
    throw new Error('the pool has not recovered');
  translator.destroy();
  say(JSON.stringify(outcome));
  return outcome;
}

/** Many callers at the same time, some of whom abort. */
export async function manyCallers({ create, say }, callers, rounds) {
  const { expected, each } = await translations(create, callers * rounds);
  const translator = await create(2);
  const next = random(9);
  const outcome = { callers, calls: 0, aborted: 0 };
  const caller = async (n) => {
    for (let round = 0; round < rounds; ++round) {
      const number = n * rounds + round;
      const controller = new AbortController();
      const impatient = next() < 0.4;
      const timer = impatient ? setTimeout(() => controller.abort(), next() * each * callers) : undefined;
      ++outcome.calls;
      try {
        const value = await translator.translate(sentence(number), { signal: controller.signal });
        if (value !== expected[number]) throw new Error(`mixed up: ${value}`);
      } catch (error) {
        if (error.name !== 'AbortError' || !impatient) throw error;
        ++outcome.aborted;
      }
      clearTimeout(timer);
    }
  };
  await inTime(
    Promise.all(Array.from({ length: callers }, (_, n) => caller(n))),
    'what all callers asked for',
  );
  if (outcome.aborted === 0) throw new Error('nobody aborted');
  translator.destroy();
  say(JSON.stringify(outcome));
  return outcome;
}

/** Everything, with the numbers that were asked for. */
export async function soak(runtime, { translations, lives, kills, callers, rounds }) {
  return {
    ...(await manyTranslations(runtime, translations)),
    ...(await manyLives(runtime, lives)),
    deadWorkers: await deadWorkers(runtime, kills),
    manyCallers: await manyCallers(runtime, callers, rounds),
  };
}
