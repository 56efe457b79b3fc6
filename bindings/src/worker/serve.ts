// The worker's side: loads a model, translates in slices, and listens for a cancellation between two of them.
import { type Engine, loadEngine } from '../engine.js';
import { messageOf } from '../errors.js';
import type { ModelHandle, Reply, Request, SearchOptions } from './protocol.js';

/** What the worker needs of the runtime that it is in. */
export interface Scope {
  post(reply: Reply): void;
  listen(handler: (request: Request) => void): void;
  /** Opens a model, to be read chunk by chunk. */
  open(model: ModelHandle): Promise<{ size: number; chunks: AsyncIterable<Uint8Array> }>;
  /** Lets the event loop turn once, so that a waiting message is seen. */
  pause(): Promise<void>;
}

type Loaded = Engine & { translator: Exclude<ReturnType<Engine['module']['loadEngine']>, string> };

// How long a slice lasts. Half of it is the average delay of a cancellation, and turning the event loop costs microseconds.
const sliceMilliseconds = 10;

/** Why a model is not loaded, when that is the model's fault or the memory's, and not ours. */
class Refusal extends Error {
  readonly outOfMemory: boolean;
  constructor(reason: string, outOfMemory = false) {
    super(reason);
    this.outOfMemory = outOfMemory;
  }
}

/** Answers requests until the worker is ended. */
export function serve(scope: Scope): void {
  let loaded: Loaded | undefined;
  let cancelled = -1;

  async function answer(request: Request): Promise<Reply | undefined> {
    switch (request.type) {
      case 'cancel':
        cancelled = request.id;
        return undefined;
      case 'load':
        loaded = await load(scope, request);
        return { type: 'loaded', info: describe(loaded) };
      case 'count': {
        const { translator } = existing(loaded);
        return {
          type: 'counted',
          id: request.id,
          counts: request.segments.map((text) => translator.countTokens(text)),
        };
      }
      case 'inspect': {
        const { sentence, translation } = request;
        const inspection = existing(loaded).translator.inspect(wellFormed(sentence), wellFormed(translation));
        if (typeof inspection === 'string') return { type: 'failed', id: request.id, reason: inspection };
        return { type: 'inspected', id: request.id, inspection };
      }
      case 'translate':
        return translate(existing(loaded), request.id, request.segments, request.options);
    }
  }

  async function translate(
    engine: Loaded,
    id: number,
    segments: string[],
    options: SearchOptions,
  ): Promise<Reply> {
    const start = performance.now();
    const job = engine.translator.start(segments.map(wellFormed), options);
    if (typeof job === 'string') return { type: 'failed', id, reason: job };
    try {
      for (;;) {
        const more = job.advance(sliceMilliseconds);
        if (typeof more === 'string') return { type: 'failed', id, reason: more };
        if (!more) break;
        await scope.pause();
        if (cancelled === id) return { type: 'cancelled', id };
      }
      const translated = job.finish();
      const tokens = translated.reduce((sum, { sourceTokens }) => sum + sourceTokens, 0);
      const stats = { milliseconds: performance.now() - start, tokens, memoryBytes: memoryOf(engine) };
      return { type: 'translated', id, segments: translated, stats };
    } finally {
      job.delete();
    }
  }

  scope.listen((request) => {
    answer(request).then(
      (reply) => {
        if (reply) scope.post(reply);
      },
      (error: unknown) => {
        if (error instanceof Refusal) {
          scope.post({ type: 'refused', reason: error.message, outOfMemory: error.outOfMemory });
        } else {
          scope.post({ type: 'crashed', reason: messageOf(error) });
        }
      },
    );
  });
}

/** Reads a model straight into the engine's memory. */
async function load(scope: Scope, { model, variant, kernel }: Request & { type: 'load' }): Promise<Loaded> {
  const { size, chunks } = await scope.open(model);
  const engine = await loadEngine(variant);
  const buffer = new engine.module.ModelBuffer(size);
  try {
    if (size > 0 && !buffer.allocated)
      throw new Refusal(`There is not enough memory for a model of ${String(size)} bytes.`, true);
    let offset = 0;
    for await (const chunk of chunks) {
      if (offset + chunk.length > size) throw new Refusal('The model has changed while it was read.');
      buffer.view().set(chunk, offset);
      offset += chunk.length;
    }
    const translator = engine.module.loadEngine(buffer, kernel);
    if (typeof translator === 'string') throw new Refusal(translator);
    return { ...engine, translator };
  } finally {
    buffer.delete();
  }
}

function describe(engine: Loaded) {
  const { kernel, description, modelBytes } = engine.translator.info();
  const { variant, wasmBytes } = engine;
  return { variant, kernel, wasmBytes, modelBytes, memoryBytes: memoryOf(engine), description };
}

const memoryOf = ({ module }: Engine): number => (module.HEAPU8 as Uint8Array).buffer.byteLength;

function existing(loaded: Loaded | undefined): Loaded {
  if (!loaded) throw new Error('No model has been loaded.');
  return loaded;
}

/** A string whose surrogates all come in pairs: anything else has no UTF-8 form. */
const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\uFFFD');
