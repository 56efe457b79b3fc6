// Everything that the package offers, in every runtime.
export {
  Translator,
  type BatchOptions,
  type CreateOptions,
  type EngineInfo,
  type InspectOptions,
  type LanguagePair,
} from './translator.js';
export { loadEngine } from './bare.js';
export { DownloadProgressEvent, type CreateMonitor } from './monitor.js';
export type { ErrorName } from './errors.js';
export type { Engine } from './engine.js';
export type { AttentionHead, Inspection, Station } from './inspection.js';
export type { RegistryModel } from './models/registry.js';
export type { DownloadTiming, Progress } from './models/download.js';
export type { ModelFile } from './models/file.js';
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
export { supportedVariants, type Variant } from './variants.js';
