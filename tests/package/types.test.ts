// What TypeScript makes of the package. tsc checks these lines; Jest only sees to it that they are there.
import { expect, test } from '@jest/globals';
import type * as browser from '../../dist/index.js';
import type * as node from '../../dist/node.js';
import type { CreateMonitor, CreateOptions, Translation, Translator } from '../../dist/node.js';

/** `true` if both types are the same, else something that `true` does not fit. */
type Same<A, B> = [A, B] extends [B, A] ? true : 'different';
/** Fails to compile unless the value is of exactly this type. */
const isExactly =
  <Expected>() =>
  <Actual>(value: Actual, proof: Same<Expected, Actual>) =>
    value !== undefined && proof;

/** A part of the web's own API, as lib.dom will have it. */
interface StandardTranslator {
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  readonly inputQuota: number;
  translate(input: string, options?: { signal?: AbortSignal }): Promise<string>;
  translateStreaming(input: string, options?: { signal?: AbortSignal }): ReadableStream<string>;
  measureInputUsage(input: string, options?: { signal?: AbortSignal }): Promise<number>;
  destroy(): void;
}
interface StandardFactory {
  create(options: {
    sourceLanguage: string;
    targetLanguage: string;
    signal?: AbortSignal;
    monitor?: (monitor: EventTarget) => void;
  }): Promise<StandardTranslator>;
  availability(options: {
    sourceLanguage: string;
    targetLanguage: string;
  }): Promise<'unavailable' | 'downloadable' | 'downloading' | 'available'>;
}

declare const translator: Translator;
declare const factory: typeof Translator;

const checks = () => {
  // A page can write globalThis.Translator ?? Translator.
  factory satisfies StandardFactory;
  translator satisfies StandardTranslator;

  const { signal } = new AbortController();
  isExactly<Promise<string>>()(translator.translate('a', { beam: 4, signal }), true);
  isExactly<Promise<Translation>>()(translator.translate('a', { alternatives: 3 }), true);
  isExactly<Promise<Translation>>()(
    translator.translate('a', { alignment: true, glossary: { a: 'b' } }),
    true,
  );
  const maybe = { confidence: Math.random() > 0.5 };
  isExactly<Promise<string | Translation>>()(translator.translate('a', maybe), true);
  isExactly<Promise<string[]>>()(translator.translateBatch(new Set(['a'])), true);

  // Every runtime offers the same.
  const proof: Same<keyof typeof browser, keyof typeof node> = true;

  const options: CreateOptions = {
    model: new Uint8Array(3),
    workers: 2,
    kernel: 'relaxed',
    monitor: (monitor: CreateMonitor) => {
      monitor.addEventListener('downloadprogress', ({ loaded, loadedBytes }) => {
        isExactly<number>()(loaded, true);
        isExactly<number>()(loadedBytes, true);
      });
    },
  };
  void factory.create(options);
  // @ts-expect-error: languages are strings
  void factory.create({ sourceLanguage: 1, targetLanguage: 'de' });
  // @ts-expect-error: there is no such kernel
  void factory.create({ kernel: 'avx9000' });
  // @ts-expect-error: numbers are not text
  void translator.translate(42);
  // @ts-expect-error: the languages of a translator stay
  translator.sourceLanguage = 'fr';
  // @ts-expect-error: the constructor is not for callers
  new factory();
  return proof;
};

test('the types are checked by tsc', () => {
  expect(checks).toBeInstanceOf(Function);
});
