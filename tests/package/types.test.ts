// What TypeScript makes of the package. tsc checks these lines; Jest only sees to it that they are there.
import { expect, test } from '@jest/globals';
import type * as browser from '../../dist/index.js';
import type * as node from '../../dist/node.js';
import type { CreateMonitor, CreateOptions, Translation, Translator } from '../../dist/node.js';

/** Fails to compile unless both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;
const same = <A, B>(proof: Same<A, B>) => proof;

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

  const plain = translator.translate('a', { beam: 4, signal: new AbortController().signal });
  same<typeof plain, Promise<string>>(true);
  const detailed = translator.translate('a', { alternatives: 3 });
  same<typeof detailed, Promise<Translation>>(true);
  const aligned = translator.translate('a', { alignment: true, glossary: { house: 'Haus' } });
  same<typeof aligned, Promise<Translation>>(true);
  const dynamic = translator.translate('a', { confidence: Math.random() > 0.5 });
  same<typeof dynamic, Promise<string | Translation>>(true);
  const batch = translator.translateBatch(new Set(['a']));
  same<typeof batch, Promise<string[]>>(true);

  // Every runtime offers the same.
  same<keyof typeof browser, keyof typeof node>(true);

  const options: CreateOptions = {
    model: new Uint8Array(3),
    workers: 2,
    kernel: 'relaxed',
    monitor: (monitor: CreateMonitor) => {
      monitor.addEventListener('downloadprogress', ({ loaded, loadedBytes }) => {
        same<typeof loaded, number>(true);
        same<typeof loadedBytes, number>(true);
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
};

test('the types are checked by tsc', () => {
  expect(checks).toBeInstanceOf(Function);
});
