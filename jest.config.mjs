export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/tests/package/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/build/', '<rootDir>/dist/package.json'],
  // What tests share. They import it as TypeScript wants it: under the name that it would have after compilation.
  moduleNameMapper: {
    '^\\./(fake-translators|fault-server|mini-dom|tiny-model)\\.js$': '<rootDir>/tests/package/$1.ts',
  },
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/tests/package/transform.mjs' },
};
