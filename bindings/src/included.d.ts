// The models that come with the package. The list is written when the package is built, from models/registry.json.
import type { RegistryModel } from './models/registry.js';

/** What is known of each, and a function for its address: bundlers find the file by the expression in it. */
export const includedModels: readonly (Omit<RegistryModel, 'file'> & { url: () => URL })[];
