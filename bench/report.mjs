// The report: tables made of the numbers, and whether each target is met.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../.ci/shell.mjs';
import { targets } from './targets.mjs';

const table = (head, rows) =>
  [head, head.map((title, i) => (i === 0 || title === '' ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

const digits = (x) => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2));
/** A median with its quartiles. */
const spread = ({ median, low, high }) => `${digits(median)} (${digits(low)}–${digits(high)})`;
const times = (x) => `**${x.toFixed(2)}×**`;
const megabytes = (bytes) => (bytes / 2 ** 20).toFixed(1);
const middle = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const percent = (x) => `${Math.round(100 * x)} %`;

const perRuntime = (part, tables) =>
  Object.entries(part.byRuntime)
    .map(([name, results]) => `**${name}**\n\n${tables(results)}`)
    .join('\n\n');

function translation(part) {
  return perRuntime(part, (shapes) =>
    table(
      [
        'shape',
        'sentences × tokens',
        'INT8, ms',
        'FP32 twin, ms',
        'FP32 vanilla, ms',
        'INT8 tokens/s',
        'against twin',
        'against vanilla',
      ],
      Object.entries(shapes).flatMap(([shape, results]) =>
        results
          .filter(({ flavour }) => flavour === 'int8')
          .map(({ sentences, tokens, milliseconds }) => {
            const of = (flavour) =>
              results.find((r) => r.flavour === flavour && r.sentences === sentences && r.tokens === tokens)
                .milliseconds;
            const [twin, vanilla] = [of('float'), of('vanilla')];
            return [
              shape,
              `${sentences} × ${tokens}`,
              ...[milliseconds, twin, vanilla].map(spread),
              digits((1000 * sentences * tokens) / milliseconds.median),
              times(twin.median / milliseconds.median),
              times(vanilla.median / milliseconds.median),
            ];
          }),
      ),
    ),
  );
}

const growth = (part) =>
  perRuntime(part, ({ lengths, counts }) =>
    [
      table(
        ['words in a sentence', ...lengths.map(({ words }) => words)],
        [
          ['ms', ...lengths.map(({ milliseconds }) => spread(milliseconds))],
          [
            'words/s',
            ...lengths.map(({ words, milliseconds }) => digits((1000 * words) / milliseconds.median)),
          ],
        ],
      ),
      table(
        ['sentences in one call', ...counts.map(({ sentences }) => sentences)],
        [['ms', ...counts.map(({ milliseconds }) => spread(milliseconds))]],
      ),
    ].join('\n\n'),
  );

const modes = {
  single: 'one sentence at a time',
  batch: 'batch of equally long sentences',
  mixed: 'all sentences in one call',
};

const peers = (part) =>
  table(
    [
      '',
      'sentences',
      'Octavo, source words/s',
      'Bergamot, source words/s',
      'Octavo is',
      'shipped model, real lengths',
    ],
    Object.entries(part.byRuntime).flatMap(([name, results]) =>
      Object.entries(modes).map(([mode, title]) => {
        const rate = (engine) => {
          const found = results.find((r) => r.engine === engine && r.mode === mode);
          if (!found) return undefined;
          const of = (ms) => (1000 * found.words) / ms;
          const { median, low, high } = found.milliseconds;
          return { median: of(median), low: of(high), high: of(low) };
        };
        const [octavo, bergamot, shipped] = [rate('octavo'), rate('bergamot'), rate('shipped')];
        const ratio = times(octavo.median / bergamot.median);
        return [name, title, spread(octavo), spread(bergamot), ratio, shipped ? spread(shipped) : ''];
      }),
    ),
  );

const kernelTitles = {
  reference: 'reference',
  simd128: 'simd128',
  relaxed: 'relaxed',
  fused: 'fused',
  float: 'FP32',
  'onnx int8': 'onnxruntime-web INT8',
  'onnx float': 'onnxruntime-web FP32',
};

const kernels = (part) =>
  perRuntime(part, (results) => {
    const names = [...new Set(results.map(({ name }) => name))];
    const shapes = [...new Set(results.map(({ m, k, n }) => `${m}, ${k}×${n}`))];
    const at = (shape, name) => results.find((r) => `${r.m}, ${r.k}×${r.n}` === shape && r.name === name);
    const cell = (shape, name) => {
      const { m, rate, peak, stream } = at(shape, name);
      if (!rate) return '–';
      const bound = m === 1 ? stream : peak;
      const fraction = bound && name !== 'reference' ? ` (${percent(rate.best / bound)})` : '';
      return `${digits(rate.median)}/${digits(rate.best)}${fraction}`;
    };
    const peaks = names
      .filter((name) => at(shapes[0], name).peak)
      .map((name) => {
        const found = results.filter((r) => r.name === name).map((r) => r.peak);
        return `${kernelTitles[name]} ${digits(Math.max(...found))}`;
      });
    return `Peak loops, GOP/s: ${peaks.join(', ')}.\n\n${table(
      ['M, K×N', ...names.map((name) => kernelTitles[name])],
      shapes.map((shape) => [shape, ...names.map((name) => cell(shape, name))]),
    )}`;
  });

const startUp = (part) =>
  table(
    [
      '',
      'engine',
      'wasm compile, ms',
      'model load, ms',
      'first translation, ms',
      'together, ms',
      'model file, MB',
      'wasm memory after the first, MB',
      'steady, MB',
      'process growth, MB',
    ],
    Object.entries(part.byRuntime).flatMap(([name, engines]) =>
      Object.entries(engines).map(([engine, runs]) => {
        const of = (take) => middle(runs.map(take));
        return [
          name,
          engine === 'octavo' ? 'Octavo' : 'Bergamot',
          digits(of((r) => r.compile)),
          digits(of((r) => r.load)),
          digits(of((r) => r.first)),
          digits(of((r) => r.compile + r.load + r.first)),
          megabytes(of((r) => r.modelBytes)),
          megabytes(of((r) => r.firstMemory)),
          megabytes(of((r) => r.memory)),
          runs[0].rss ? megabytes(of((r) => r.rss)) : '–',
        ];
      }),
    ),
  );

/** What the kernel's functions belong to. */
const operations = {
  product: 'matrix products',
  write_back: 'write-back',
  rescale: 're-scaling to INT8',
  centre: 'layer norm',
  gain: 'layer norm',
  match_add: 'layer norm',
  logits: 'logits and arg max',
  unpack_row: 'embedding',
  widen: 'embedding',
};
const operationOf = ({ layer, operation }) =>
  operation === 'product' && layer === 'embedding'
    ? 'output projection'
    : (operations[operation] ?? 'attention');

const layerOf = ({ layer }) => {
  const [side, , module] = layer.split('.');
  if (side === 'embedding') return 'embedding, projection';
  return module === undefined
    ? side
    : `${side} ${{ self_attn: 'self-attention', cross_attn: 'cross-attention', ffn: 'FFN' }[module]}`;
};

const profile = (part) =>
  perRuntime(part, (cases) =>
    Object.entries(cases)
      .map(([name, { entries, whole }]) => {
        const total = entries.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
        const grouped = (key) => {
          const groups = new Map();
          for (const entry of entries)
            groups.set(key(entry), (groups.get(key(entry)) ?? 0) + entry.milliseconds);
          return [...groups]
            .sort((a, b) => b[1] - a[1])
            .map(([title, ms]) => `${title} ${percent(ms / total)}`);
        };
        const title = name === 'single' ? 'One sentence of 24 tokens' : 'Sixteen sentences of 24 tokens';
        return [
          `${title}: ${digits(whole.median)} ms; ${digits(total)} ms in the kernel's functions.`,
          `- by operation: ${grouped(operationOf).join(', ')}`,
          `- by layer (what follows a product is counted to it): ${grouped(layerOf).join(', ')}`,
        ].join('\n');
      })
      .join('\n\n'),
  );

const sections = {
  translation: ['1. INT8 against FP32, whole translations', translation],
  growth: ['Cost grows with the text', growth],
  peers: ['2. Against Bergamot', peers],
  kernels: ['3. Matrix products alone, GOP/s', kernels],
  'start-up': ['4. Start-up and memory', startUp],
  profile: ['5. Where the time goes', profile],
};
const notes = Object.fromEntries(
  readFileSync(join(root, 'bench/notes.md'), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => [
      section.slice(0, section.indexOf('\n')).trim(),
      section.slice(section.indexOf('\n')).trim(),
    ]),
);

/** The whole report, as Markdown. */
export function report(results) {
  const names = results.runtimes.map(({ name, variant }) => `${name}, ${variant}`);
  const measured = Object.keys(sections).filter((part) => part in results.parts);
  return [
    '# How fast Octavo is',
    `Written by \`npm run bench\` on ${results.processor}: ${results.runtimes.map(({ full, variant }) => `${full} (${variant})`).join(', ')}; one thread. ${notes.method}`,
    '![INT8 against FP32 and Bergamot](results.svg)',
    '## Targets',
    table(
      ['target', ...names],
      targets(results).map(({ title, cells }) => [title, ...cells]),
    ),
    notes.missed,
    ...measured.flatMap((part) => {
      const [title, tables] = sections[part];
      return [`## ${title}`, ...(notes[part] ? [notes[part]] : []), tables(results.parts[part])];
    }),
    '',
  ].join('\n\n');
}
