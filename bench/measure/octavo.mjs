// Octavo as the package ships it: the WebAssembly module of dist/, driven as the package's worker drives it.
import { importFile, readBytes } from './files.mjs';

/** As many target tokens as source tokens, end mark included: what the other engines are told as well. */
export const sameLength = {
  beam: 1,
  alternatives: 1,
  lengthPenalty: 1,
  maxLengthFactor: 1,
  maxLengthExtra: 1,
  loopPhrase: 0,
  scores: false,
  alignment: false,
};

/** What translates real text. */
export const realistic = { ...sameLength, maxLengthFactor: 2, maxLengthExtra: 16, loopPhrase: 16 };

/** Compiles the module and returns what makes engines of it. */
export async function loadModule(variant) {
  const { default: create } = await importFile(`dist/${variant}/octavo.mjs`);
  return create({ wasmBinary: await readBytes(`dist/${variant}/octavo.wasm`) });
}

/** An engine with a model. */
export function loadModel(module, model) {
  const buffer = new module.ModelBuffer(model.byteLength);
  buffer.view().set(model);
  const engine = module.loadEngine(buffer, '');
  buffer.delete();
  if (typeof engine === 'string') throw new Error(engine);
  return {
    translate: (texts, options = sameLength) => translate(engine, texts, options),
    count: (text) => engine.countTokens(text),
    info: () => engine.info(),
    /** Bytes of the linear memory, which never shrinks: peak and steady state in one. */
    memory: () => module.HEAPU8.byteLength,
  };
}

export const loadOctavo = async (variant, path) =>
  loadModel(await loadModule(variant), await readBytes(path));

function translate(engine, texts, options) {
  const job = engine.start(texts, options);
  if (typeof job === 'string') throw new Error(job);
  for (;;) {
    const more = job.advance(1000);
    if (typeof more === 'string') throw new Error(more);
    if (!more) break;
  }
  const segments = job.finish();
  job.delete();
  return segments.map(({ alternatives }) => alternatives[0].text);
}

/** Texts of exactly so many pieces (the end mark is one more): words that are one piece each. */
export function textsOf(engine, source, pieces, count) {
  const words = [...new Set(source.match(/[a-z]+/g))].filter((word) => engine.count(word) === 1);
  return Array.from({ length: count }, (_, n) =>
    Array.from({ length: pieces }, (_, i) => words[(n * 31 + i * 7) % words.length]).join(' '),
  );
}
