// What every format needs: the translator, and a document worked through in portions.

/** A sentence of a translation, with where it stood and stands, by UTF-16 offsets. */
export interface DocumentSentence {
  readonly source: { readonly start: number; readonly end: number };
  readonly target: { readonly start: number; readonly end: number };
  readonly alignment?: readonly {
    readonly source: { readonly start: number; readonly end: number };
    readonly target: { readonly start: number; readonly end: number };
    readonly weight: number;
  }[];
}

/** What of a translator is needed for documents. */
export interface DocumentTranslator {
  readonly sourceLanguage?: string;
  readonly targetLanguage?: string;
  translate(
    text: string,
    options: { alignment: true; signal?: AbortSignal | undefined },
  ): Promise<{ readonly text: string; readonly sentences: readonly DocumentSentence[] }>;
  translateBatch(texts: Iterable<string>, options?: { signal?: AbortSignal | undefined }): Promise<string[]>;
  translateHTML(html: string, options?: { signal?: AbortSignal | undefined }): Promise<string>;
}

/** How a document is translated. */
export interface DocumentOptions {
  signal?: AbortSignal | undefined;
  /** Told after each portion how much is done, in characters of the original. */
  onProgress?: ((done: number, total: number) => void) | undefined;
}

// Enough sentences for the engine's batches, and little enough for a bar that moves.
const portionSize = 2500;

/**
 * Works through items in portions of a few thousand characters, two at a time, so that no worker waits for the next. If
 * the engine fails on a portion its items are tried one by one, and those on which it fails again stay as they were.
 */
export async function inPortions<T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  work: (portion: readonly T[]) => Promise<void>,
  { signal, onProgress }: DocumentOptions,
): Promise<void> {
  const portions: { items: T[]; size: number }[] = [];
  for (const item of items) {
    const last = portions.at(-1);
    const size = sizeOf(item);
    if (last && last.size + size <= portionSize) {
      last.items.push(item);
      last.size += size;
    } else portions.push({ items: [item], size });
  }
  const total = portions.reduce((sum, { size }) => sum + size, 0);
  let done = 0;
  const waiting = portions.values();
  const worker = async () => {
    for (const { items: own, size } of waiting) {
      signal?.throwIfAborted();
      await careful(own, work);
      onProgress?.((done += size), total);
    }
  };
  onProgress?.(0, total);
  await Promise.all([worker(), worker()]);
}

async function careful<T>(items: readonly T[], work: (portion: readonly T[]) => Promise<void>) {
  try {
    await work(items);
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'OperationError') throw error;
    if (items.length > 1) for (const item of items) await careful([item], work);
  }
}

/**
 * Translates the sections of a document, whose texts put together are the document. Of each portion come back as many
 * sections, or all of them as one.
 */
export async function translateSections(
  sections: readonly string[],
  translate: (sections: string[]) => Promise<string[]>,
  options: DocumentOptions,
): Promise<string> {
  const items = sections.map((source) => ({ source, target: source }));
  const work = async (portion: readonly (typeof items)[number][]) => {
    const results = await translate(portion.map(({ source }) => source));
    portion.forEach((item, i) => (item.target = results[i] ?? ''));
  };
  await inPortions(items, ({ source }) => source.length, work, options);
  return items.map(({ target }) => target).join('');
}

/** A line of a document and how it ends. */
export interface Line {
  text: string;
  end: string;
}

/** The lines of a document; put together they are the document again. */
export function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) {
    lines.push({ text: text.slice(start, index), end });
    start = index + end.length;
  }
  if (start < text.length) lines.push({ text: text.slice(start), end: '' });
  return lines;
}

/** The index of the last item that fulfils a condition, or -1. */
export function lastIndex<T>(items: readonly T[], condition: (item: T) => boolean): number {
  let index = items.length - 1;
  while (index >= 0 && !condition(items[index] as T)) --index;
  return index;
}
