export { loadEngine, supportedVariants } from './engine.js';
export type { Engine, Variant } from './engine.js';
