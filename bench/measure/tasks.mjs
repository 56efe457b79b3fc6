// What is measured inside a runtime. Each task takes its settings and returns numbers, nothing formatted.
import { interleaved, interleavedOften, now, summary } from './clock.mjs';
import * as bergamot from './bergamot.mjs';
import { importFile, preload, readBytes, readText } from './files.mjs';
import { loadModel, loadModule, loadOctavo, realistic, sameLength, textsOf } from './octavo.mjs';
import { loadProduct, loadRuntime } from './onnx.mjs';

const models = 'build/bench';
const source = () => readText('bench/sentences.txt');
const lines = async () => (await source()).trim().split('\n');
const wordsIn = (texts) => texts.join(' ').split(/\s+/).length;

/** INT8, its FP32 twin and the vanilla FP32 Transformer: sentences of several lengths, and a batch. */
async function translation({ variant, shape, lengths, batch, rounds }) {
  const flavours = ['int8', 'float', 'vanilla'];
  const engines = [];
  for (const flavour of flavours)
    engines.push(await loadOctavo(variant, `${models}/${shape}-${flavour}.octavo`));
  const cases = [
    ...lengths.map((tokens) => ({ sentences: 1, tokens })),
    { sentences: batch.sentences, tokens: batch.tokens },
  ];
  const text = await source();
  const results = [];
  for (const { sentences, tokens } of cases) {
    const texts = textsOf(engines[0], text, tokens - 1, sentences);
    const times = await interleaved(
      engines.map((engine) => ({ run: () => engine.translate(texts) })),
      rounds,
    );
    flavours.forEach((flavour, i) => results.push({ flavour, sentences, tokens, milliseconds: times[i] }));
  }
  return results;
}

/** Whether cost grows with the amount of text and no faster: long sentences, and many of them. */
async function growth({ variant, lengths, counts, rounds }) {
  const engine = await loadOctavo(variant, `${models}/shipped-int8.octavo`);
  const text = await source();
  const sentences = await lines();
  const long = lengths.map((words) => textsOf(engine, text, words, 1));
  const many = counts.map((count) =>
    Array.from({ length: count }, (_, i) => sentences[i % sentences.length]),
  );
  const run = (texts) => ({ run: () => engine.translate(texts) });
  const longTimes = await interleaved(long.map(run), rounds);
  const manyTimes = await interleaved(many.map(run), Math.max(1, Math.round(rounds / 3)));
  return {
    lengths: lengths.map((words, i) => ({ words, milliseconds: longTimes[i] })),
    counts: counts.map((count, i) => ({ sentences: count, milliseconds: manyTimes[i] })),
  };
}

/** Octavo and Bergamot on the same shape, vocabulary and sentences, and with the same number of target tokens. */
async function peers({ variant, batch, rounds }) {
  const octavo = await loadOctavo(variant, `${models}/shipped-int8.octavo`);
  const [model, vocabulary] = [
    await readBytes(`${models}/marian.bin`),
    await readBytes(`${models}/vocabulary.spm`),
  ];
  const other = bergamot.loadModel(await bergamot.loadModule(), model, vocabulary);
  const sentences = await lines();
  const batched = textsOf(octavo, await source(), batch.tokens - 1, batch.sentences);
  const results = [];
  const compare = async (mode, texts, translate) => {
    const engines = { octavo, bergamot: other };
    const times = await interleaved(
      Object.values(engines).map((engine) => ({ run: () => translate(engine, texts) })),
      rounds,
    );
    Object.keys(engines).forEach((engine, i) =>
      results.push({ engine, mode, words: wordsIn(texts), milliseconds: times[i] }),
    );
  };
  await compare('single', sentences, (engine, texts) => texts.forEach((text) => engine.translate([text])));
  await compare('batch', batched, (engine, texts) => engine.translate(texts));
  await compare('mixed', sentences, (engine, texts) => engine.translate(texts));
  const shipped = await loadOctavo(variant, 'models/en-de/model.octavo');
  const [real] = await interleaved([{ run: () => shipped.translate(sentences, realistic) }], rounds);
  results.push({ engine: 'shipped', mode: 'mixed', words: wordsIn(sentences), milliseconds: real });
  return results;
}

/** Matrix products alone: our kernels, onnxruntime-web's, and what the CPU can do. */
async function kernels({ variant, names, shapes, rounds, window }) {
  const { default: create } = await importFile(
    `build/${variant === 'relaxed' ? 'wasm-relaxed' : 'wasm'}/probe.mjs`,
  );
  const wasmBinary = await readBytes(`build/${variant === 'relaxed' ? 'wasm-relaxed' : 'wasm'}/probe.wasm`);
  const probe = await create({ wasmBinary });
  const ort = await loadRuntime();
  const results = [];
  for (const shape of shapes) {
    const [m, k, n] = shape;
    const products = names.map((name) => new probe.Product(name, m, k, n));
    const onnx = [await loadProduct(ort, 'int8', shape), await loadProduct(ort, 'float', shape)];
    const peaks = names.filter((name) => name !== 'reference');
    const often = { rounds, window };
    const timesOfAll = await interleavedOften(
      [
        ...products.map((product) => ({ run: (times) => product.run(times) })),
        ...peaks.map((name) => ({ run: (times) => probe.peak(name, 1000 * times) })),
        ...products.map((product) => ({ run: (times) => product.read(times) })),
        ...onnx.flatMap(({ run, call }) => [{ run }, { run: call }]),
      ],
      often,
    );
    const take = (count) => timesOfAll.splice(0, count);
    const own = take(names.length);
    const peak = take(peaks.length);
    const read = take(names.length);
    const [int8, int8Call, float, floatCall] = timesOfAll;
    const operations = 2 * m * k * n;
    const rate = ({ median, least }) => ({
      median: operations / median / 1e6,
      best: operations / least / 1e6,
    });
    // Where most of the time is the call, what is left of it says nothing about the product.
    const rateWithout = (time, call) => {
      if (call.median > time.median / 2) return undefined;
      return rate({ median: time.median - call.median, least: time.least - call.least });
    };
    names.forEach((name, i) => {
      const at = peaks.indexOf(name);
      const peakRate = at < 0 ? undefined : (1000 * probe.peak(name, 1)) / peak[at].least / 1e6;
      const streamRate = operations / read[i].least / 1e6;
      results.push({ m, k, n, name, rate: rate(own[i]), peak: peakRate, stream: streamRate });
    });
    results.push({ m, k, n, name: 'onnx int8', rate: rateWithout(int8, int8Call) });
    results.push({ m, k, n, name: 'onnx float', rate: rateWithout(float, floatCall) });
    products.forEach((product) => product.delete());
    await Promise.all(onnx.map(({ release }) => release()));
  }
  return results;
}

/** From nothing to the first translation, once: to be run in a fresh process or page. */
async function startUp({ engine, variant }) {
  const wall = () => performance.now();
  const text = ['Hello world!'];
  const loaders = { octavo: { loadModule, loadModel, code: [`dist/${variant}/octavo.wasm`] }, bergamot };
  const files = {
    octavo: ['models/en-de/model.octavo'],
    bergamot: [`${models}/marian.bin`, `${models}/vocabulary.spm`],
  };
  await preload([...loaders[engine].code, ...files[engine]]);
  const bytes = await Promise.all(files[engine].map(readBytes));
  const before = globalThis.process?.memoryUsage().rss;
  const start = wall();
  const module = await loaders[engine].loadModule(variant);
  const compiled = wall();
  const translator = loaders[engine].loadModel(module, ...bytes);
  const loaded = wall();
  translator.translate(text);
  const first = wall();
  const modelBytes = bytes[0].byteLength;
  const firstMemory = translator.memory();
  // Steady state: after real work, one sentence at a time and all at once.
  const sentences = await lines();
  sentences.forEach((sentence) => translator.translate([sentence]));
  translator.translate(sentences);
  const result = {
    compile: compiled - start,
    load: loaded - compiled,
    first: first - loaded,
    modelBytes,
    firstMemory,
    memory: translator.memory(),
  };
  if (before !== undefined) {
    result.rss = process.memoryUsage().rss - before;
  }
  return result;
}

/** Where the time of a translation goes. */
async function profile({ variant, sentences, tokens }) {
  const directory = `build/${variant === 'relaxed' ? 'wasm-relaxed' : 'wasm'}`;
  const { default: create } = await importFile(`${directory}/probe.mjs`);
  const probe = await create({ wasmBinary: await readBytes(`${directory}/probe.wasm`) });
  const model = await readBytes(`${models}/shipped-int8.octavo`);
  // Wall time of short moments, in which anything may come between: the least of several counts.
  const least = new Map();
  for (let i = 0; i < 10; ++i) {
    probe.reserve(model.byteLength).set(model);
    for (const entry of JSON.parse(probe.profile(sentences, tokens))) {
      const key = `${entry.layer} ${entry.operation}`;
      if (!(least.get(key)?.milliseconds <= entry.milliseconds)) least.set(key, entry);
    }
  }
  const entries = [...least.values()];
  const engine = await loadOctavo(variant, `${models}/shipped-int8.octavo`);
  const texts = textsOf(engine, await source(), tokens - 1, sentences);
  const samples = [];
  for (let i = 0; i < 20; ++i) {
    const start = now();
    engine.translate(texts, sameLength);
    if (i > 4) samples.push(now() - start);
  }
  return { entries, whole: summary(samples) };
}

const tasks = { translation, growth, peers, kernels, startUp, profile };

export const measure = (task, settings) => tasks[task](settings);
