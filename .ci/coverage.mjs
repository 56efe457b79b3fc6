// npm run coverage: which lines of the engine and of the package the tests run.
//
// The engine is measured by gcov in a build of its own. The package is measured as TypeScript wrote it, module by module,
// since bundles would blur where a line comes from; what runs in worker threads is not seen.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPreset } from './build.mjs';
import { installPackages } from './debian.mjs';
import { setup } from './setup.mjs';
import { Trouble, main, root, run, runNpm, runQuietly, say, step } from './shell.mjs';

const least = 90; // per cent of lines
const output = join(root, 'build/coverage-package');

function coverEngine() {
  installPackages({ gcovr: 'gcovr' });
  buildPreset('coverage');
  run(join(root, 'build/coverage/octavo_tests'), ['--gtest_brief=1']);
  const summary = runQuietly('gcovr', [
    ...[
      '--root',
      root,
      '--filter',
      'engine/src/',
      '--json-summary',
      '-',
      '--txt',
      join(root, 'build/coverage/engine.txt'),
    ],
    join(root, 'build/coverage'),
  ]);
  const { line_covered, line_total } = JSON.parse(summary);
  return (100 * line_covered) / line_total;
}

function coverPackage() {
  const dist = join(output, 'dist');
  cpSync(join(root, 'dist'), dist, { recursive: true });
  runNpm('tsc', ['--project', 'bindings', '--outDir', dist]); // over the bundles
  const config = {
    rootDir: root,
    testEnvironment: 'node',
    testMatch: ['<rootDir>/tests/{package,web,fuzz}/**/*.test.ts'],
    // These are about the bundles themselves.
    testPathIgnorePatterns: ['packaging', 'security', 'cli', 'types'],
    modulePathIgnorePatterns: ['<rootDir>/dist/package.json', 'build/coverage-package/dist/package.json'],
    moduleNameMapper: {
      '^(?:\\.\\./)+dist/(.*)$': '<rootDir>/build/coverage-package/dist/$1',
      '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1.ts'],
    },
    extensionsToTreatAsEsm: ['.ts'],
    testTimeout: 60_000,
    transform: { '\\.ts$': '<rootDir>/tests/package/transform.mjs' },
    coverageProvider: 'v8',
    collectCoverageFrom: [
      'build/coverage-package/dist/**/*.js',
      '!**/worker*',
      '!**/worker/**',
      '!**/*.mjs',
      '!**/shared-*',
    ],
    coverageReporters: ['json-summary', 'text'],
    coverageDirectory: output,
  };
  const file = join(output, 'jest.config.json');
  writeFileSync(file, JSON.stringify(config));
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  run(process.execPath, [...jest, '--config', file, '--coverage']);
  return JSON.parse(readFileSync(join(output, 'coverage-summary.json'), 'utf8')).total.lines.pct;
}

await main(async () => {
  await setup();
  mkdirSync(output, { recursive: true });
  const engine = await step('Engine', coverEngine);
  const typescript = await step('Package', coverPackage);
  say(`\nLines covered: engine ${engine.toFixed(1)} %, package ${typescript.toFixed(1)} %`);
  if (engine < least || typescript < least) throw new Trouble(`Less than ${least} % are covered.`);
});
