// npm run fuzz: every fuzzer for some minutes, one after another (npm run fuzz -- --minutes 60 model_file kernels).
//
// What a fuzzer finds is left in tests/fuzz/corpus, where the engine's tests run it from then on; what it learns on the way
// stays in build/fuzz-corpus and is where the next run begins.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPreset } from './build.mjs';
import { installPackages } from './debian.mjs';
import { setup } from './setup.mjs';
import { Trouble, main, root, runQuietly, say, step } from './shell.mjs';

/** The fuzzers: those of the engine are libFuzzer programs, those of the package are Jest tests that take their time. */
const native = ['model_file', 'vocabulary', 'translate', 'kernels'];
const scripts = ['package'];

function fuzzNative(name, minutes) {
  const corpus = join(root, 'build/fuzz-corpus', name);
  mkdirSync(corpus, { recursive: true });
  const seeds = join(root, 'tests/fuzz/corpus', name);
  const args = [
    `-max_total_time=${minutes * 60}`,
    '-timeout=30',
    '-rss_limit_mb=2048',
    '-print_final_stats=1',
  ];
  const { stderr, status } = spawnSync(
    join(root, `build/fuzz/fuzz_${name}`),
    [...args, `-artifact_prefix=${seeds}/`, corpus, seeds],
    { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const executions = Number(/stat::number_of_executed_units:\s*(\d+)/.exec(stderr)?.[1] ?? 0);
  const coverage = Number([...stderr.matchAll(/cov: (\d+)/g)].at(-1)?.[1] ?? 0);
  if (status !== 0) say(stderr.split('\n').slice(-40).join('\n'));
  return { executions, coverage, failed: status !== 0 };
}

function fuzzScript(name, minutes) {
  const report = join(root, `build/reports/fuzz-${name}.json`);
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  const { status } = spawnSync(
    process.env.npm_node_execpath ?? process.execPath,
    [...jest, '--runInBand', `--testPathPatterns=tests/fuzz/${name}`],
    {
      cwd: root,
      env: { ...process.env, OCTAVO_FUZZ_MINUTES: String(minutes), OCTAVO_FUZZ_REPORT: report },
      stdio: 'inherit',
    },
  );
  const { executions = 0 } = status === 0 ? JSON.parse(readFileSync(report, 'utf8')) : {};
  return { executions, failed: status !== 0 };
}

await main(async () => {
  const { values, positionals } = parseArgs({
    options: { minutes: { type: 'string', default: '5' } },
    allowPositionals: true,
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Trouble(`--minutes takes a positive number, not "${values.minutes}".`);
  const all = [...native, ...scripts];
  const unknown = positionals.find((name) => !all.includes(name));
  if (unknown) throw new Trouble(`No fuzzer "${unknown}"; there are ${all.join(', ')}.`);
  const wanted = all.filter((name) => positionals.length === 0 || positionals.includes(name));

  await setup();
  if (wanted.some((name) => native.includes(name))) {
    const runtime = `/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-${runQuietly('uname', ['-m']).trim()}.a`;
    installPackages({ 'clang-19': 'clang++-19', 'libclang-rt-19-dev': runtime });
    await step('Fuzzers', () => buildPreset('fuzz', 'fuzzers'));
  }
  const results = [];
  for (const name of wanted) {
    await step(`${name}, ${minutes} min`, () => {
      const result = native.includes(name) ? fuzzNative(name, minutes) : fuzzScript(name, minutes);
      results.push({ name, minutes, ...result });
      say(`   ${result.executions} inputs${result.failed ? ', FAILED' : ', nothing found'}`);
    });
  }
  writeFileSync(join(root, 'build/reports/fuzz.json'), `${JSON.stringify(results, null, 2)}\n`);
  if (results.some(({ failed }) => failed))
    throw new Trouble('Something was found: see above, and what is new in tests/fuzz/corpus.');
});
