// npm test: everything, from set-up to the last check. `npm test -- lint jest` runs just these steps.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { checkBudgets } from './budget.mjs';
import { buildNative, buildPackage, buildPage, buildPreset, buildWasm } from './build.mjs';
import { buildWithBundlers } from './bundlers.mjs';
import { checkFloatFree } from './float-free.mjs';
import { lint } from './lint.mjs';
import { setup } from './setup.mjs';
import { Trouble, main, root, runAside, runQuietly, say, step } from './shell.mjs';

const reports = join(root, 'build/reports');
const total = { passed: 0, failed: 0 };

/** Runs a test program that writes a JSON report, and adds up what the report says. */
async function runTests(command, args, report, count, options = {}) {
  rmSync(report, { force: true });
  mkdirSync(reports, { recursive: true });
  try {
    await runAside(command, args, options);
  } finally {
    let counted = { passed: 0, failed: 1 }; // a program that crashed leaves no report
    try {
      counted = count(JSON.parse(readFileSync(report, 'utf8')));
    } catch {}
    total.passed += counted.passed;
    total.failed += counted.failed;
  }
}

/** A part of the tests on each core. */
const googleTest = (preset) =>
  step(`GoogleTest (${preset})`, async () => {
    const count = ({ testsuites }) => {
      const tests = testsuites.flatMap((suite) => suite.testsuite);
      const failed = tests.filter((test) => test.failures).length;
      return { passed: tests.filter((test) => test.result === 'COMPLETED').length - failed, failed };
    };
    const shards = availableParallelism();
    const runs = Array.from({ length: shards }, (_, shard) => {
      const report = join(reports, `${preset}-${shard}.json`);
      const env = {
        ...process.env,
        UBSAN_OPTIONS: 'print_stacktrace=1',
        GTEST_TOTAL_SHARDS: `${shards}`,
        GTEST_SHARD_INDEX: `${shard}`,
      };
      const args = ['--gtest_brief=1', `--gtest_output=json:${report}`];
      return runTests(join(root, 'build', preset, 'octavo_tests'), args, report, count, { env });
    });
    const failed = (await Promise.allSettled(runs)).find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
  });

/** The Node that runs npm: inside npm's scripts, `node` is the newer one of our optional dependencies. */
const ownNode = process.env.npm_node_execpath ?? process.execPath;

const jest = (title, node, config = 'jest.config.mjs', more = []) =>
  step(`Jest (${title})`, () => {
    const report = join(reports, `jest-${title.replaceAll(' ', '-')}.json`);
    const args = [
      '--experimental-vm-modules',
      '--no-warnings',
      'node_modules/jest/bin/jest.js',
      '--config',
      config,
      ...more,
    ];
    const count = ({ numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) => ({
      passed: numPassedTests,
      failed: numFailedTests + numRuntimeErrorTestSuites,
    });
    return runTests(node, [...args, '--json', `--outputFile=${report}`], report, count, {
      stdio: ['inherit', 'ignore', 'inherit'],
    });
  });

/** What never comes near the engine behaves the same in every Node. */
const withoutEngine = [
  'tests/(web|fuzz)/',
  'tests/package/(html|packaging|protect|sentences|security|types)\\.test',
];

/** The tests of the engine again, in a Node that has relaxed SIMD. An npm package brings it, for Linux. */
const jestOnNewerNode = () => {
  const node = join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  const skipped = withoutEngine.flatMap((pattern) => ['--testPathIgnorePatterns', pattern]);
  if (existsSync(node)) return jest('newer Node', node, undefined, skipped);
  say('\n── Jest (newer Node)\n   skipped: there is none for this platform');
};

// What a failed build would break is not run after it; everything else is, so that one run tells all.
const steps = [
  { name: 'setup', work: setup, vital: true },
  { name: 'native', work: buildNative, vital: true },
  {
    name: 'asan-build',
    work: () => step('Sanitizer build', () => buildPreset('asan', 'octavo_tests')),
    vital: true,
  },
  { name: 'wasm', work: buildWasm, vital: true },
  { name: 'package', work: buildPackage, vital: true },
  { name: 'page', work: buildPage, vital: true },
  { name: 'lint', work: lint },
  { name: 'gtest', work: () => googleTest('native') },
  { name: 'asan', work: () => googleTest('asan') },
  { name: 'jest', work: () => jest(`Node ${runQuietly(ownNode, ['--version']).trim()}`, ownNode) },
  { name: 'jest-newer', work: jestOnNewerNode },
  { name: 'bundlers', work: buildWithBundlers },
  { name: 'browser', work: () => jest('browser', ownNode, 'tests/browser/jest.config.mjs') },
  { name: 'float-free', work: checkFloatFree },
  { name: 'budget', work: checkBudgets },
];

await main(async () => {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !steps.some((known) => known.name === name));
  if (unknown.length > 0) {
    throw new Trouble(`No step "${unknown[0]}"; there are ${steps.map(({ name }) => name).join(', ')}.`);
  }

  const failures = [];
  for (const { name, work, vital } of steps) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      failures.push(`${name}: ${error.message} Again just this: npm test -- ${name}`);
      say(`✗ ${failures.at(-1)}`);
      if (vital) break;
    }
  }

  if (failures.length > 0) say(`\nFailed:\n${failures.map((line) => `✗ ${line}`).join('\n')}`);
  say(`\n${total.passed} passed, ${total.failed} failed`);
  if (failures.length > 0) process.exitCode = 1;
});
