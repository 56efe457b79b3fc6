// The engine without workers, models and sentences. In a file of its own: bundlers of workers do not like lazy imports.
import type { Engine } from './engine.js';
import type { Variant } from './variants.js';

/**
 * Loads the bare engine on this very thread: the best variant that runs here, or the one that is asked for.
 * For measuring and testing; to translate, use `Translator`.
 */
export const loadEngine = async (variant?: Variant): Promise<Engine> =>
  (await import('./engine.js')).loadEngine(variant);
