// A pair of languages and the model for it: is it there, can it be had, is it being downloaded, does it translate?
import { ModelStore, type RegistryModel, Translator } from 'octavo';

/** Why there is no translator. */
export type Trouble = 'network' | 'gone' | 'offline' | 'damaged' | 'memory' | 'other';

/** Where things stand. */
export type State =
  | { readonly kind: 'checking' | 'insecure' | 'unsupported' }
  | {
      readonly kind: 'needed';
      readonly model: RegistryModel;
      readonly outdated: boolean;
      readonly loaded: number;
    }
  | { readonly kind: 'downloading'; readonly model: RegistryModel; readonly loaded: number }
  | { readonly kind: 'loading'; readonly model: RegistryModel }
  | {
      readonly kind: 'ready';
      readonly translator: Translator;
      /** What there is to say of a download: it is complete, could not be kept, or broke off and an older model does. */
      readonly news: 'ready' | 'notKept' | 'network' | undefined;
    }
  | {
      readonly kind: 'failed';
      readonly model: RegistryModel;
      readonly trouble: Trouble;
      readonly loaded: number;
    };

// The smallest module with an instruction on 128 bits.
const simdProbe = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0],
  ...[65, 0, 253, 15, 253, 98, 11],
);

function canRun(): boolean {
  try {
    return WebAssembly.validate(simdProbe);
  } catch {
    return false; // no WebAssembly at all: some browsers switch it off for safety
  }
}

/** Holds the translator for the chosen pair; fires `change` whenever things stand differently. */
export class Session extends EventTarget {
  readonly store = new ModelStore();
  #state: State = { kind: 'checking' };
  #stop = new AbortController();
  #loaded = 0;

  get state(): State {
    return this.#state;
  }

  get translator(): Translator | undefined {
    return this.#state.kind === 'ready' ? this.#state.translator : undefined;
  }

  /** Takes the model of a pair: opens it, if it is on this device, or waits for `download`. */
  async choose(source: string, target: string): Promise<void> {
    const signal = this.#begin({ kind: 'checking' });
    if (!isSecureContext || !canRun()) {
      // Without https there is neither a cache nor a way to verify what arrives.
      this.#set({ kind: isSecureContext ? 'unsupported' : 'insecure' });
      return;
    }
    const model = (await this.store.offered()).find(
      (offered) => offered.source === source && offered.target === target,
    );
    if (!model || isOver(signal)) return; // only pairs that have a model can be chosen
    const stored = await this.store.list().catch(() => []);
    if (isOver(signal)) return;
    this.#loaded = 0;
    const outdated = stored.some((old) => samePair(old, model));
    // Without a network an older model has to do: the store falls back on it.
    if (stored.some(({ sha256 }) => sha256 === model.sha256) || (outdated && !navigator.onLine)) {
      this.#set({ kind: 'loading', model });
      await this.#open(model, signal, false);
    } else {
      this.#set({ kind: 'needed', model, outdated, loaded: 0 });
    }
  }

  /** Downloads the model; what an earlier attempt brought is kept and used. */
  async download(): Promise<void> {
    const { model } = this.#state as { model?: RegistryModel };
    if (!model) return;
    const signal = this.#begin({ kind: 'downloading', model, loaded: this.#loaded });
    // Whoever waits for it wants to find it again, even when space runs low. The browser decides.
    navigator.storage.persist().catch(() => false);
    await this.#open(model, signal, true);
  }

  /** Stops a download. */
  cancel(): void {
    if (this.#state.kind !== 'downloading') return;
    const { model, loaded } = this.#state;
    this.#begin({ kind: 'needed', model, outdated: false, loaded });
  }

  async #open(model: RegistryModel, signal: AbortSignal, fresh: boolean): Promise<void> {
    try {
      const translator = await Translator.create({
        store: this.store,
        sourceLanguage: model.source,
        targetLanguage: model.target,
        signal,
        monitor: (monitor) => {
          monitor.addEventListener('downloadprogress', ({ loadedBytes }) => {
            if (signal.aborted || this.#state.kind !== 'downloading') return;
            this.#loaded = loadedBytes;
            this.#set({ kind: 'downloading', model, loaded: loadedBytes });
          });
        },
      });
      const stored = await this.store.list().catch(() => []);
      if (signal.aborted) {
        translator.destroy();
        return;
      }
      const current = stored.some(({ sha256 }) => sha256 === model.sha256);
      const missing = this.#loaded < model.bytes ? 'network' : 'notKept';
      const news = current ? 'ready' : missing;
      this.#set({ kind: 'ready', translator, news: fresh ? news : undefined });
      // What the new model replaces only takes space.
      const outdated = stored.filter((old) => samePair(old, model) && old.sha256 !== model.sha256);
      if (current) for (const { id } of outdated) await this.store.delete(id).catch(() => false);
    } catch (error) {
      if (signal.aborted) return;
      this.#set({ kind: 'failed', model, trouble: troubleOf(error), loaded: this.#loaded });
    }
  }

  /** Leaves what was before, and begins something that can be stopped in its turn. */
  #begin(state: State): AbortSignal {
    this.#stop.abort();
    this.#stop = new AbortController();
    if (this.#state.kind === 'ready') this.#state.translator.destroy();
    this.#set(state);
    return this.#stop.signal;
  }

  #set(state: State): void {
    this.#state = state;
    this.dispatchEvent(new Event('change'));
  }
}

/** Asked again after each wait: TypeScript thinks that it cannot have changed. */
const isOver = (signal: AbortSignal) => signal.aborted;

const samePair = (
  stored: { sourceLanguage: string | undefined; targetLanguage: string | undefined },
  { source, target }: RegistryModel,
) => stored.sourceLanguage === source && stored.targetLanguage === target;

function troubleOf(error: unknown): Trouble {
  const { name, message } = error as Error;
  if (name === 'QuotaExceededError') return 'memory';
  if (name !== 'NetworkError') return 'other';
  // An earlier version of the page asks for what the server no longer has.
  if (/answered 4(0[34]|10)/.test(message)) return 'gone';
  if (message.includes('SHA-256') || message.includes('longer than')) return 'damaged';
  return navigator.onLine ? 'network' : 'offline';
}
