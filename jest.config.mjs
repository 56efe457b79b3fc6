export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/tests/package/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/build/', '<rootDir>/dist/package.json'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/tests/package/transform.mjs' },
};
