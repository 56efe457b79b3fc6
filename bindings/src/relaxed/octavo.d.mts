// Emscripten's module and the types it generates are put here when the package is built.
export * from '../../../build/wasm/octavo.js';
export { default } from '../../../build/wasm/octavo.js';
