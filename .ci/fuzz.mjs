// npm run fuzz: every fuzzer for some minutes, one after another (npm run fuzz -- --minutes 60 model_file kernels),
// or some at once (--at-once 2).
//
// What a fuzzer finds is left in tests/fuzz/corpus, where the engine's tests run it from then on; what it learns on the way
// stays in build/fuzz-corpus and is where the next run begins.
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPreset } from './build.mjs';
import { installPackages } from './debian.mjs';
import { setup } from './setup.mjs';
import { Trouble, main, root, runAside, runQuietly, say, step } from './shell.mjs';

/** The fuzzers: those of the engine are libFuzzer programs, those of the package are Jest tests that take their time. */
const native = ['model_file', 'vocabulary', 'translate', 'kernels'];
const scripts = ['package'];
const reports = join(root, 'build/reports');

/** Whether a program ends well; what it writes goes to a log. */
async function passes(command, args, log, env = {}) {
  const output = openSync(log, 'w');
  try {
    await runAside(command, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', output, output],
    });
    return true;
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    say(readFileSync(log, 'utf8').split('\n').slice(-40).join('\n'));
    return false;
  } finally {
    closeSync(output);
  }
}

async function fuzzNative(name, minutes, log) {
  const corpus = join(root, 'build/fuzz-corpus', name);
  mkdirSync(corpus, { recursive: true });
  const seeds = join(root, 'tests/fuzz/corpus', name);
  const args = [
    `-max_total_time=${minutes * 60}`,
    '-timeout=30',
    '-report_slow_units=30', // a slow one is not a finding: this machine may be busy
    '-rss_limit_mb=2048',
    '-print_final_stats=1',
  ];
  const program = join(root, `build/fuzz/fuzz_${name}`);
  const passed = await passes(program, [...args, `-artifact_prefix=${seeds}/`, corpus, seeds], log);
  const told = readFileSync(log, 'utf8');
  const executions = Number(/stat::number_of_executed_units:\s*(\d+)/.exec(told)?.[1] ?? 0);
  const coverage = Number([...told.matchAll(/cov: (\d+)/g)].at(-1)?.[1] ?? 0);
  return { executions, coverage, failed: !passed };
}

async function fuzzScript(name, minutes, log) {
  const report = join(reports, `fuzz-${name}.json`);
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  const passed = await passes(
    process.env.npm_node_execpath ?? process.execPath,
    [...jest, '--runInBand', `--testPathPatterns=tests/fuzz/${name}`],
    log,
    { OCTAVO_FUZZ_MINUTES: String(minutes), OCTAVO_FUZZ_REPORT: report },
  );
  const { executions = 0 } = passed ? JSON.parse(readFileSync(report, 'utf8')) : {};
  return { executions, failed: !passed };
}

await main(async () => {
  const { values, positionals } = parseArgs({
    options: { minutes: { type: 'string', default: '5' }, 'at-once': { type: 'string', default: '1' } },
    allowPositionals: true,
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Trouble(`--minutes takes a positive number, not "${values.minutes}".`);
  const atOnce = Number(values['at-once']);
  if (!(atOnce >= 1)) throw new Trouble(`--at-once takes a number from 1, not "${values['at-once']}".`);
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
  mkdirSync(reports, { recursive: true });
  const waiting = [...wanted];
  const results = [];
  const fuzzNext = async () => {
    for (let name; (name = waiting.shift()) !== undefined;) {
      await step(`${name}, ${minutes} min`, async () => {
        const fuzz = native.includes(name) ? fuzzNative : fuzzScript;
        const result = await fuzz(name, minutes, join(reports, `fuzz-${name}.log`));
        results.push({ name, minutes, ...result });
        say(`   ${name}: ${result.executions} inputs${result.failed ? ', FAILED' : ', nothing found'}`);
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, fuzzNext));
  writeFileSync(join(reports, 'fuzz.json'), `${JSON.stringify(results, null, 2)}\n`);
  if (results.some(({ failed }) => failed))
    throw new Trouble('Something was found: see above, and what is new in tests/fuzz/corpus.');
});
