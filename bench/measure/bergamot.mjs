// Bergamot's WebAssembly (@browsermt/bergamot-translator), driven as its own worker script does it.
import { readBytes, readText } from './files.mjs';

const directory = 'bench/node_modules/@browsermt/bergamot-translator/worker';

/** The files of its code. */
export const code = ['wasm', 'js'].map((type) => `${directory}/bergamot-translator-worker.${type}`);

/** Its matrix products live in the module itself, unless a browser brings native ones. */
const products = {
  int8_prepare_a: 'int8PrepareAFallback',
  int8_prepare_b: 'int8PrepareBFallback',
  int8_prepare_b_from_transposed: 'int8PrepareBFromTransposedFallback',
  int8_prepare_b_from_quantized_transposed: 'int8PrepareBFromQuantizedTransposedFallback',
  int8_prepare_bias: 'int8PrepareBiasFallback',
  int8_multiply_and_add_bias: 'int8MultiplyAndAddBiasFallback',
  int8_select_columns_of_b: 'int8SelectColumnsOfBFallback',
};

/** Compiles the module. */
export async function loadModule() {
  const wasm = await readBytes(code[0]);
  const script = await readText(code[1]);
  return new Promise((resolve, reject) => {
    const module = {
      instantiateWasm(imports, accept) {
        const gemm = {};
        for (const [name, own] of Object.entries(products))
          gemm[name] = (...args) => module.asm[own](...args);
        WebAssembly.instantiate(wasm, { ...imports, wasm_gemm: gemm }).then(
          ({ instance }) => accept(instance),
          reject,
        );
        return {};
      },
      onRuntimeInitialized: () => resolve(module),
    };
    globalThis.Module = module;
    (0, eval)(script); // a classic script that expects to be one
  });
}

/** A service with a model: greedy search, as many target tokens as source tokens, end mark included. */
export function loadModel(module, model, vocabulary) {
  const memory = (bytes, alignment) => {
    const aligned = new module.AlignedMemory(bytes.byteLength, alignment);
    if (bytes.byteLength > 0)
      aligned.getByteArrayView().set(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return aligned;
  };
  const config = [
    ['beam-size', 1],
    ['normalize', '1.0'],
    ['word-penalty', 0],
    ['max-length-break', 512],
    ['mini-batch-words', 1024],
    ['workspace', 128],
    ['max-length-factor', '1.0'],
    ['skip-cost', true],
    ['cpu-threads', 0],
    ['quiet', true],
    ['quiet-translation', true],
    ['gemm-precision', 'int8shiftAlphaAll'],
    ['alignment', 'soft'],
    ['ssplit-mode', 'sentence'],
  ];
  const vocabularies = new module.AlignedMemoryList();
  vocabularies.push_back(memory(vocabulary, 64));
  const service = new module.BlockingService({ cacheSize: 0 });
  const text = config.map(([key, value]) => `${key}: ${value}\n`).join('');
  const noShortlist = memory(new Uint8Array(0), 64);
  const translator = new module.TranslationModel(text, memory(model, 256), noShortlist, vocabularies, null);
  return {
    translate: (texts) => translate(module, service, translator, texts),
    memory: () => module.HEAP8.byteLength,
  };
}

function translate(module, service, model, texts) {
  const input = new module.VectorString();
  const options = new module.VectorResponseOptions();
  for (const text of texts) {
    input.push_back(text);
    options.push_back({ qualityScores: false, alignment: false, html: false });
  }
  const responses = service.translate(model, input, options);
  const translated = [];
  for (let i = 0; i < responses.size(); ++i) {
    const response = responses.get(i);
    translated.push(response.getTranslatedText());
    response.delete();
  }
  for (const vector of [input, options, responses]) vector.delete();
  return translated;
}
