// The targets, each a ratio inside one run: what is asked for, and what was measured in each runtime.

const worst = (values) => Math.min(...values);

/** Ratios of an FP32 flavour to INT8 over the cases that `wanted` selects. */
const speedUps = (shapes, flavour, wanted) =>
  Object.entries(shapes).flatMap(([shape, results]) =>
    results
      .filter((r) => r.flavour === 'int8' && shape !== 'shipped' && wanted(r))
      .map((r) => {
        const other = results.find(
          (o) => o.flavour === flavour && o.sentences === r.sentences && o.tokens === r.tokens,
        );
        return other.milliseconds.median / r.milliseconds.median;
      }),
  );

const single = ({ sentences }) => sentences === 1;
const batch = ({ sentences }) => sentences > 1;

const peerRatio = (results, mode) => {
  const of = (engine) => results.find((r) => r.engine === engine && r.mode === mode).milliseconds.median;
  return of('bergamot') / of('octavo');
};

const middle = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const kernelRows = (results, name) => results.filter((r) => r.name === name);
const against = (results, name, other) =>
  kernelRows(results, name).flatMap((r) => {
    const peer = results.find((o) => o.name === other && o.m === r.m && o.k === r.k && o.n === r.n);
    return peer.rate ? [r.rate.best / peer.rate.best] : [];
  });

/** title, the part it is measured in, the value, what is asked for ('relaxed' and 'simd128' may differ), and how to print. */
const list = [
  [
    'INT8 against FP32 vanilla, base and big, single sentences: worst case',
    'translation',
    (s) => worst(speedUps(s, 'vanilla', single)),
    { relaxed: 3, simd128: 2.2 },
  ],
  ['… in batches', 'translation', (s) => worst(speedUps(s, 'vanilla', batch)), { relaxed: 3, simd128: 2.2 }],
  [
    'INT8 against the FP32 twin, single sentences: worst case',
    'translation',
    (s) => worst(speedUps(s, 'float', single)),
    { relaxed: 2.5, simd128: 2 },
  ],
  ['… in batches', 'translation', (s) => worst(speedUps(s, 'float', batch)), { relaxed: 2.5, simd128: 2 }],
  [
    "our FP32 products against onnxruntime-web's: median over the shapes",
    'kernels',
    (r) => middle(against(r, 'float', 'onnx float')),
    1,
  ],
  [
    "our INT8 products against onnxruntime-web's: worst shape",
    'kernels',
    (r, variant) => worst(against(r, variant, 'onnx int8')),
    1,
  ],
  ['source words/s against Bergamot, one sentence at a time', 'peers', (r) => peerRatio(r, 'single'), 4],
  ['… in batches', 'peers', (r) => peerRatio(r, 'batch'), 6],
  [
    'product against its peak loop, M ≥ 16: median',
    'kernels',
    (r, variant) =>
      middle(
        kernelRows(r, variant)
          .filter(({ m }) => m >= 16)
          .map(({ rate, peak }) => rate.best / peak),
      ),
    0.85,
  ],
  [
    'product against reading the weights, M = 1: median',
    'kernels',
    (r, variant) =>
      middle(
        kernelRows(r, variant)
          .filter(({ m }) => m === 1)
          .map(({ rate, stream }) => rate.best / stream),
      ),
    0.7,
  ],
  [
    'memory above the model file, MB (at most)',
    'start-up',
    (r) => (middle(r.octavo.map((run) => run.memory)) - r.octavo[0].modelBytes) / 2 ** 20,
    { most: 16 },
  ],
  [
    "start-up as a fraction of Bergamot's (at most)",
    'start-up',
    (r) => {
      const together = (runs) => middle(runs.map((run) => run.compile + run.load + run.first));
      return together(r.octavo) / together(r.bergamot);
    },
    { most: 0.25 },
  ],
  [
    'words/s at 200 words a sentence against 20',
    'growth',
    ({ lengths }) => {
      const rate = (words) => words / lengths.find((l) => l.words === words).milliseconds.median;
      return rate(200) / rate(20);
    },
    0.7,
  ],
  [
    'time of ten times as many sentences (at most)',
    'growth',
    ({ counts }) => counts[1].milliseconds.median / counts[0].milliseconds.median,
    { most: 10.5 },
  ],
];

/** A row per target: its title and, for each runtime, the value and whether it is enough. */
export const targets = ({ parts, runtimes }) =>
  list
    .filter(([, part]) => part in parts)
    .map(([title, part, value, asked]) => {
      const limit = (variant) => asked.most ?? asked[variant] ?? asked;
      const limits = [...new Set(runtimes.map(({ variant }) => limit(variant)))];
      return {
        title: `${title} (${asked.most ? '≤' : '≥'} ${limits.join(', ')})`,
        cells: runtimes.map(({ name, variant }) => {
          const results = parts[part].byRuntime[name];
          if (!results) return '–';
          const found = value(results, variant);
          if (!Number.isFinite(found)) return '–';
          const met = asked.most ? found <= asked.most : found >= limit(variant);
          return `${found.toFixed(2)} ${met ? '✓' : '✗'}`;
        }),
      };
    });
