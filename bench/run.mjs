// npm run bench: measures everything side by side and writes bench/results.md and its chart.
//
//   --quick        the shipped shape only, few rounds; writes to build/bench/, not to the repository
//   --only part    translation, growth, peers, kernels, start-up or profile
//   --in runtime   the beginning of its name, such as node or chromium
// What is left out keeps the numbers of an earlier run in the report.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Trouble, main, root, say, step } from '../.ci/shell.mjs';
import { chart } from './chart.mjs';
import { directory, prepare } from './prepare.mjs';
import { report } from './report.mjs';
import { findRuntimes } from './runtimes.mjs';

const allKernels = {
  simd128: ['reference', 'simd128', 'float'],
  relaxed: ['reference', 'simd128', 'relaxed', 'fused', 'float'],
};

/** The parts of the benchmark: what each measures in one runtime. */
const parts = {
  async translation({ measure }, { quick, shapes }) {
    const results = {};
    for (const shape of shapes) {
      const lengths = { shipped: [10, 24, 50, 100, 200], base: [24], big: [24] }[shape];
      results[shape] = await measure('translation', {
        shape,
        lengths: quick ? [24] : lengths,
        batch: { sentences: shape === 'big' ? 8 : 16, tokens: 24 },
        rounds: quick ? 2 : { shipped: 5, base: 3, big: 2 }[shape],
      });
    }
    return results;
  },
  growth: ({ measure }, { quick }) =>
    measure('growth', {
      lengths: [20, 50, 100, 200],
      counts: quick ? [10, 100] : [100, 1000],
      rounds: quick ? 1 : 7,
    }),
  peers: ({ measure }, { quick }) =>
    measure('peers', { batch: { sentences: 32, tokens: 24 }, rounds: quick ? 1 : 5 }),
  kernels: ({ measure, variant }, { quick }) => {
    const matrices = [
      [256, 256],
      [256, 1024],
      [1024, 256],
      [512, 2048],
      [256, 8000],
    ];
    return measure('kernels', {
      names: allKernels[variant],
      shapes: matrices.flatMap(([k, n]) => [1, 4, 16, 64].map((m) => [m, k, n])),
      rounds: quick ? 2 : 9,
      window: quick ? 4 : 12,
    });
  },
  async 'start-up'({ measure }, { quick }) {
    const results = { octavo: [], bergamot: [] };
    for (let round = 0; round < (quick ? 1 : 5); ++round) {
      for (const engine of Object.keys(results)) results[engine].push(await measure('startUp', { engine }));
    }
    return results;
  },
  profile: async ({ measure }) => ({
    single: await measure('profile', { sentences: 1, tokens: 24 }),
    batch: await measure('profile', { sentences: 16, tokens: 24 }),
  }),
};

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string' }, in: { type: 'string' } },
});

await main(async () => {
  const wanted = flags.only === undefined ? Object.keys(parts) : [flags.only];
  if (!(wanted[0] in parts))
    throw new Trouble(`There is no part "${flags.only}"; choose one of ${Object.keys(parts).join(', ')}.`);
  const quick = flags.quick ?? false;
  const where = (flags.in ?? '').toLowerCase();
  const shapes = quick ? ['shipped'] : ['shipped', 'base', 'big'];
  await step('Preparations', () => prepare(wanted.includes('translation') ? shapes : ['shipped']));

  const kept = join(directory, quick ? 'quick.json' : 'results.json');
  const results = { parts: {} };
  try {
    Object.assign(results, JSON.parse(readFileSync(kept, 'utf8')));
  } catch {}
  const runtimes = await findRuntimes();
  results.processor = cpus()[0].model.trim();
  results.runtimes = runtimes.map(({ name, full, variant }) => ({ name, full, variant }));
  try {
    for (const part of wanted) {
      const found = { byRuntime: { ...results.parts[part]?.byRuntime } };
      results.parts[part] = found;
      for (const runtime of runtimes.filter(({ name }) => name.toLowerCase().startsWith(where))) {
        found.byRuntime[runtime.name] = await step(`${part}, ${runtime.name}`, () =>
          parts[part](runtime, { quick, shapes }),
        );
        writeFileSync(kept, JSON.stringify(results));
      }
    }
  } finally {
    for (const runtime of runtimes) await runtime.close();
  }

  const markdown = report(results);
  const target = quick ? directory : join(root, 'bench');
  writeFileSync(join(target, 'results.svg'), chart(results));
  writeFileSync(join(target, 'results.md'), markdown);
  say(`\n${markdown}`);
});
