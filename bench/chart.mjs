// The chart beside the report: bars, drawn as SVG.

const colours = ['#0b6e4f', '#8a8a8a', '#c0c0c0'];
const bar = 16;
const labels = 300;
const width = 900;

/** Groups of bars: { title, unit, rows: [{ label, values: [{ name, value }] }] }. */
function groupsOf({ parts, runtimes }) {
  const groups = [];
  if (parts.translation) {
    const rows = runtimes.flatMap(({ name }) =>
      Object.entries(parts.translation.byRuntime[name] ?? {}).flatMap(([shape, results]) =>
        results
          .filter(({ flavour, tokens }) => flavour === 'int8' && tokens === 24)
          .map(({ sentences, tokens }) => ({
            label: `${name}, ${shape}, ${sentences === 1 ? 'one sentence' : `batch of ${sentences}`}`,
            values: ['int8', 'float', 'vanilla'].map((flavour) => ({
              name: { int8: 'INT8', float: 'FP32 twin', vanilla: 'FP32 vanilla' }[flavour],
              value:
                (1000 * sentences * tokens) /
                results.find((r) => r.flavour === flavour && r.sentences === sentences && r.tokens === tokens)
                  .milliseconds.median,
            })),
          })),
      ),
    );
    groups.push({
      title: 'Whole translations, target tokens per second, each row relative to INT8',
      relative: true,
      rows,
    });
  }
  if (parts.peers) {
    const rows = runtimes.flatMap(({ name }) =>
      ['single', 'batch'].map((mode) => ({
        label: `${name}, ${mode === 'single' ? 'one sentence' : 'batch'}`,
        values: ['octavo', 'bergamot'].map((engine) => {
          const found = parts.peers.byRuntime[name].find((r) => r.engine === engine && r.mode === mode);
          return {
            name: { octavo: 'Octavo', bergamot: 'Bergamot' }[engine],
            value: (1000 * found.words) / found.milliseconds.median,
          };
        }),
      })),
    );
    groups.push({ title: 'Source words per second, same shape and lengths', rows });
  }
  return groups;
}

/** The whole drawing. */
export function chart(results) {
  const shapes = [];
  let y = 30;
  const text = (x, at, content, more = '') =>
    shapes.push(`<text x="${x}" y="${at}" ${more}>${content}</text>`);
  for (const { title, rows, relative } of groupsOf(results)) {
    text(10, y, title, 'font-weight="bold"');
    y += 14;
    const most = Math.max(...rows.flatMap(({ values }) => values.map(({ value }) => value)));
    for (const { label, values } of rows) {
      text(labels - 10, y + 13, label, 'text-anchor="end"');
      const full = relative ? Math.max(...values.map(({ value }) => value)) : most;
      values.forEach(({ name, value }, i) => {
        const length = ((width - labels - 170) * value) / full;
        shapes.push(
          `<rect x="${labels}" y="${y}" width="${length.toFixed(1)}" height="${bar - 2}" fill="${colours[i]}"/>`,
        );
        text(labels + length + 6, y + 12, `${name} ${value.toFixed(0)}`);
        y += bar;
      });
      y += 6;
    }
    y += 30;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
${shapes.join('\n')}
</svg>
`;
}
