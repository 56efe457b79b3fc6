export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/tests/{package,web,fuzz}/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/build/', '<rootDir>/dist/package.json'],
  // TypeScript is imported under the name that it would have after compilation.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1.ts'] },
  extensionsToTreatAsEsm: ['.ts'],
  testTimeout: 30_000, // a busy machine is no failure
  maxWorkers: '100%',
  transform: { '\\.ts$': '<rootDir>/tests/package/transform.mjs' },
};
