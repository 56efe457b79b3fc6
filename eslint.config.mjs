import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['build/', '**/dist/', 'models/'] },
  js.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: { URL: 'readonly', console: 'readonly', performance: 'readonly', process: 'readonly' },
    },
    rules: {
      'no-empty': ['error', { allowEmptyCatch: true }],
      'no-unused-vars': ['error', { ignoreRestSiblings: true }],
    },
  },
  {
    files: ['tests/soak/*.mjs'],
    languageOptions: {
      globals: {
        AbortController: 'readonly',
        ErrorEvent: 'readonly',
        clearTimeout: 'readonly',
        fetch: 'readonly',
        setTimeout: 'readonly',
      },
    },
  },
  {
    files: ['web/public/*.js'],
    languageOptions: { globals: { document: 'readonly', localStorage: 'readonly', navigator: 'readonly' } },
  },
  {
    files: ['bindings/examples/**/*.js', 'tests/bundlers/**/*.js', 'tests/browser/firefox/*.js'],
    languageOptions: {
      globals: {
        AbortController: 'readonly',
        FormData: 'readonly',
        TextEncoder: 'readonly',
        Worker: 'readonly',
        addEventListener: 'readonly',
        crypto: 'readonly',
        document: 'readonly',
        fetch: 'readonly',
        postMessage: 'readonly',
        setTimeout: 'readonly',
      },
    },
  },
  {
    files: ['bench/**/*.mjs'], // runs in Node and in browsers
    languageOptions: {
      globals: {
        Buffer: 'readonly',
        TextDecoder: 'readonly',
        TextEncoder: 'readonly',
        WebAssembly: 'readonly',
        fetch: 'readonly',
      },
    },
  },
  {
    files: ['**/*.ts', '**/*.mts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
  },
);
