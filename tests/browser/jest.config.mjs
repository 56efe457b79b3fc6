export default {
  rootDir: '../..',
  testEnvironment: 'node',
  testMatch: ['<rootDir>/tests/browser/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/build/', '<rootDir>/dist/package.json'],
  // TypeScript is imported under the name that it would have after compilation.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1.ts'] },
  extensionsToTreatAsEsm: ['.ts'],
  transform: { 'tests.*\\.ts$': '<rootDir>/tests/package/transform.mjs' },
  // A browser has processes of its own: two files at a time keep a small machine busy.
  maxWorkers: 2,
  testTimeout: 60_000,
};
