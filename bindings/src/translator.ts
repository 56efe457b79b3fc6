// Translator: the web's own API, and what it lacks.
import { abortable, failure, reasonOf } from './errors.js';
import { type Inspection, inspectionOf } from './inspection.js';
import { canonicalTag, matchTags } from './languages.js';
import { ModelStore, type Availability, type ModelSource } from './models/store.js';
import { type CreateMonitor, ProgressReporter } from './monitor.js';
import type { DetailOptions, DetailedOptions, TranslateOptions, Translation } from './options.js';
import { wantsDetails } from './options.js';
import type { Pipeline } from './pipeline.js';
import { WorkerPool } from './pool.js';
import { type Variant, supportedVariants } from './variants.js';
import type { LoadedInfo } from './worker/protocol.js';

/** The languages of a translator, as BCP 47 tags. */
export interface LanguagePair {
  /** The language that is translated from, such as `en` or `en-GB`. */
  sourceLanguage: string;
  /** The language that is translated to. */
  targetLanguage: string;
}

/** What a translator is made of. Everything but the languages has a default. */
export interface CreateOptions extends Partial<LanguagePair> {
  /** Called at once, with an object that fires `downloadprogress` events. */
  monitor?: ((monitor: CreateMonitor) => void) | undefined;
  /** Stops the creation, downloads included; after it, destroys the translator. */
  signal?: AbortSignal | undefined;
  /** A model of your own: a path (Node), an address, a `File` or its bytes. Languages may then be left out. */
  model?: ModelSource | undefined;
  /** The address of a registry of models; without one, those that come with the package are offered. */
  registry?: string | URL | undefined;
  /** Where models are looked for and kept, instead of a store that is made with `registry`. */
  store?: ModelStore | undefined;
  /** How many workers translate at the same time; each needs memory for its own copy of the model. 1 unless given. */
  workers?: number | undefined;
  /** The engine's kernel; the fastest that runs here unless given. All give the same translations. */
  kernel?: Variant | 'reference' | undefined;
}

/** What translates, and what that takes. */
export interface EngineInfo {
  /** The kernel in use; `float` for a model that is not quantised. */
  readonly kernel: string;
  /** The build of the engine. */
  readonly variant: Variant;
  /** How many workers there are. */
  readonly workers: number;
  /** The size of the engine's WebAssembly file. */
  readonly wasmBytes: number;
  /** The size of the model. */
  readonly modelBytes: number;
  /** The memory of all workers together. */
  readonly memoryBytes: number;
  /** Tokens of source text per second of one worker's time, over everything so far; 0 before the first translation. */
  readonly tokensPerSecond: number;
  /** What the model says of itself. */
  readonly model: Readonly<Record<string, unknown>>;
}

/** For `translateBatch`. */
export interface BatchOptions extends TranslateOptions {
  /** Told of texts that could not be translated and come back as they were. */
  onError?: ((error: unknown, index: number) => void) | undefined;
}

/** For `inspect`. */
export interface InspectOptions extends Pick<TranslateOptions, 'signal'> {
  /** A translation of the sentence, such as the best of a beam; without one, the likeliest piece is taken each time. */
  translation?: string | undefined;
}

/** What only `create` can make. */
class Parts {
  readonly pool: WorkerPool;
  readonly info: LoadedInfo;
  readonly pipeline: Pipeline;

  constructor(pool: WorkerPool, info: LoadedInfo, pipeline: Pipeline) {
    this.pool = pool;
    this.info = info;
    this.pipeline = pipeline;
  }
}

/**
 * Translates from one language to another, on this machine.
 *
 * ```js
 * const translator = await Translator.create({ sourceLanguage: 'en', targetLanguage: 'de' });
 * console.log(await translator.translate('How are you?'));
 * translator.destroy();
 * ```
 */
export class Translator {
  /** The language that is translated from: the model's, which may be less special than what was asked for. */
  readonly sourceLanguage: string;
  /** The language that is translated to, likewise. */
  readonly targetLanguage: string;
  /** How much text one call takes: there is no limit, long text is split. */
  readonly inputQuota: number = Infinity;

  readonly #pool: WorkerPool;
  readonly #pipeline: Pipeline;
  readonly #info: LoadedInfo;
  /** Aborted when the translator is destroyed, with what every call is rejected with from then on. */
  readonly #end = new AbortController();

  private constructor(parts: Parts, languages: LanguagePair, signal: AbortSignal | undefined) {
    if (!(parts instanceof Parts)) throw new TypeError('Use Translator.create().');
    this.#pool = parts.pool;
    this.#info = parts.info;
    this.#pipeline = parts.pipeline;
    this.sourceLanguage = languages.sourceLanguage;
    this.targetLanguage = languages.targetLanguage;
    const abort = () => {
      this.#destroy(signal && reasonOf(signal));
    };
    signal?.addEventListener('abort', abort, { once: true, signal: this.#end.signal });
  }

  /** Whether a pair of languages can be translated, and whether that needs a download first. */
  static async availability(
    options: LanguagePair & Pick<CreateOptions, 'registry' | 'store'>,
  ): Promise<Availability> {
    const { sourceLanguage, targetLanguage, registry, store = new ModelStore({ registry }) } = options;
    return store.availability(sourceLanguage, targetLanguage);
  }

  /** Creates a translator; downloads the model, if it is not on this machine yet. */
  static async create(options: CreateOptions): Promise<Translator> {
    const { monitor, signal, model, registry, workers = 1, kernel } = options;
    if (!Number.isInteger(workers) || workers < 1)
      throw new RangeError('workers must be a whole number from 1.');
    const variant = variantOf(kernel);
    const wanted = requestedPair(options);
    const { sourceLanguage, targetLanguage } = wanted;
    signal?.throwIfAborted();
    const store = options.store ?? new ModelStore({ registry });
    const progress = new ProgressReporter(monitor, signal);
    const report = progress.report.bind(progress);
    const opening =
      model === undefined
        ? store.open(canonicalTag(sourceLanguage), canonicalTag(targetLanguage), report, signal)
        : store.openSource(model, report, signal);
    const file = await abortable(opening, signal);
    progress.finish();
    signal?.throwIfAborted();
    const pool = new WorkerPool({ model: file, workers, variant, kernel: kernel ?? '' });
    try {
      // What cuts and mends text is loaded while the workers load the model.
      const [info, { Pipeline }] = await Promise.all([pool.start(signal), import('./pipeline.js')]);
      const offered = describedPair(info);
      pool.refused = !offered;
      const languages = checkedPair(offered, wanted);
      signal?.throwIfAborted();
      const parts = new Parts(pool, info, new Pipeline(pool, languages.sourceLanguage));
      return new Translator(parts, languages, signal);
    } catch (error) {
      pool.destroy();
      if (pool.refused) await file.discard?.().catch(() => undefined);
      throw error;
    }
  }

  /** What translates, and what that takes. */
  get engine(): EngineInfo {
    const { kernel, variant, wasmBytes, modelBytes, description } = this.#info;
    const { milliseconds, tokens, memoryBytes } = this.#pool.stats;
    return {
      kernel,
      variant,
      workers: this.#pool.size,
      wasmBytes,
      modelBytes,
      memoryBytes,
      tokensPerSecond: milliseconds > 0 ? (1000 * tokens) / milliseconds : 0,
      model: JSON.parse(description) as Record<string, unknown>,
    };
  }

  /** Translates a text and returns its sentences with what was asked for. */
  translate(input: string, options: DetailedOptions): Promise<Translation>;
  /** Translates a text. Layout, blank lines and spaces stay where they are; blank text comes back as it is. */
  translate(
    input: string,
    options?: TranslateOptions & { [Detail in keyof DetailOptions]?: undefined },
  ): Promise<string>;
  translate(input: string, options?: TranslateOptions & DetailOptions): Promise<string | Translation>;
  async translate(
    input: string,
    options: TranslateOptions & DetailOptions = {},
  ): Promise<string | Translation> {
    this.#check(options);
    const translation = await this.#pipeline.translate(textOf(input), options);
    return wantsDetails(options) ? translation : translation.text;
  }

  /** Translates a text; the stream yields parts as sentences finish. Put together they are what `translate` returns. */
  translateStreaming(input: string, options: TranslateOptions = {}): ReadableStream<string> {
    const stop = new AbortController();
    return new ReadableStream<string>({
      start: async (controller) => {
        this.#check(options);
        const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
        const onChunk = (chunk: string) => {
          if (!stop.signal.aborted) controller.enqueue(chunk);
        };
        // Not awaited: the stream shall be readable from the beginning.
        this.#pipeline.translate(textOf(input), { ...options, signal }, onChunk).then(
          () => {
            if (!stop.signal.aborted) controller.close();
          },
          (error: unknown) => {
            if (!stop.signal.aborted) controller.error(error);
          },
        );
        return Promise.resolve();
      },
      cancel: (reason) => {
        stop.abort(reason);
      },
    });
  }

  /**
   * Translates unrelated texts together, which is faster than one by one and gives the same. The result has as many
   * strings, in the same order; a text that cannot be translated comes back as it was.
   */
  async translateBatch(inputs: Iterable<string>, options: BatchOptions = {}): Promise<string[]> {
    this.#check(options);
    const { onError } = options;
    return this.#pipeline.translateAll([...inputs].map(textOf), options, (index, error) =>
      onError?.(error, index),
    );
  }

  /**
   * Translates a document or fragment of HTML. Markup ends up around the right words, attributes such as `alt` and
   * `title` are translated, and what is marked `translate="no"` is left alone. Nothing is ever executed.
   */
  async translateHTML(html: string, options: TranslateOptions = {}): Promise<string> {
    this.#check(options);
    return this.#pipeline.translateHTML(textOf(html), options);
  }

  /** Translates an element, or another node, of a document in place, in the same way. Nodes are kept and moved, not made anew. */
  async translateElement(element: Node, options: TranslateOptions = {}): Promise<void> {
    this.#check(options);
    await this.#pipeline.translateElement(element, options);
  }

  /**
   * Translates one sentence, or reads a translation as if it were its own, and tells what went on inside the network:
   * attention and scales, as integers and floats.
   */
  async inspect(sentence: string, options: InspectOptions = {}): Promise<Inspection> {
    this.#check(options);
    const { translation = '', signal } = options;
    return inspectionOf(await this.#pool.inspect(textOf(sentence), textOf(translation), signal));
  }

  /** How many tokens a text takes. For information: `inputQuota` is without limit. */
  async measureInputUsage(input: string, options: Pick<TranslateOptions, 'signal'> = {}): Promise<number> {
    this.#check(options);
    const [count = 0] = await this.#pool.count([textOf(input)], options.signal);
    return count;
  }

  /** Ends the workers and frees their memory. What is pending is rejected with an `AbortError`, later calls with an `InvalidStateError`. */
  destroy(): void {
    this.#destroy();
  }

  #destroy(reason?: Error): void {
    this.#end.abort(reason ?? failure('InvalidStateError', 'The translator has been destroyed.'));
    this.#pool.destroy(reason);
    this.#pipeline.destroy();
  }

  #check({ signal }: { signal?: AbortSignal | undefined }): void {
    signal?.throwIfAborted();
    this.#end.signal.throwIfAborted();
  }
}

/** JavaScript may pass anything; like the web's own functions we take it for text. */
const textOf = (input: unknown): string => String(input);

/** The build that has the kernel; any has the reference. */
function variantOf(kernel: CreateOptions['kernel']): Variant | undefined {
  if (kernel === undefined || kernel === 'reference') return undefined;
  if (supportedVariants().includes(kernel)) return kernel;
  throw failure('NotSupportedError', `The kernel "${kernel}" does not run here.`);
}

/** The languages that are asked for; with a model of the caller's own, those that are not are up to it. */
function requestedPair({ sourceLanguage, targetLanguage, model }: CreateOptions): RequestedPair {
  const tag = (language: string | undefined) =>
    language === undefined && model !== undefined ? undefined : canonicalTag(language);
  return { sourceLanguage: tag(sourceLanguage), targetLanguage: tag(targetLanguage) };
}

type RequestedPair = Record<keyof LanguagePair, string | undefined>;

/** The languages that a model names. The engine does not read its description, and whoever made it may have written anything. */
function describedPair({ description }: LoadedInfo): LanguagePair | undefined {
  try {
    const { source = 'und', target = 'und' } = JSON.parse(description) as Record<string, string>;
    return { sourceLanguage: canonicalTag(source), targetLanguage: canonicalTag(target) };
  } catch {
    return undefined;
  }
}

/** The model's languages, if they serve those that were asked for: as in the web's own API, `en-GB` has become `en`. */
function checkedPair(offered: LanguagePair | undefined, wanted: RequestedPair): LanguagePair {
  if (!offered)
    throw failure('OperationError', 'The description in the model cannot be read: choose another.');
  const { sourceLanguage: source, targetLanguage: target } = offered;
  const { sourceLanguage = source, targetLanguage = target } = wanted;
  if (matchTags(sourceLanguage, source) > 0 && matchTags(targetLanguage, target) > 0)
    return { sourceLanguage: source, targetLanguage: target };
  const message = `The model translates from ${source} to ${target}, not from ${sourceLanguage} to ${targetLanguage}.`;
  throw failure('NotSupportedError', message);
}
