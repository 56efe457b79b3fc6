// Everything that the package offers, in every runtime.
export { loadEngine } from './bare.js';
export { DownloadProgressEvent, type CreateMonitor } from './monitor.js';
export type { ErrorName } from './errors.js';
export type { Engine } from './engine.js';
export type { RegistryModel } from './models/registry.js';
export type { DownloadTiming } from './models/download.js';
export {
  ModelStore,
  type Availability,
  type ModelSource,
  type ModelStoreOptions,
  type StoredModel,
} from './models/store.js';
export type {
  Alternative,
  DetailOptions,
  DetailedOptions,
  TextRange,
  TranslateOptions,
  TranslatedSentence,
  Translation,
  WordLink,
} from './options.js';
export {
  Translator,
  type BatchOptions,
  type CreateOptions,
  type EngineInfo,
  type LanguagePair,
} from './translator.js';
export { supportedVariants, type Variant } from './variants.js';
