// The scales of one half of the network: a line for each token, from station to station, on a logarithmic axis.
import type { Inspection } from 'octavo';
import { make } from '../dom.js';
import { pieceText, svg } from './dom.js';
import { type HoodStrings, fill, rounded, stationName } from './strings.js';

type Stations = Inspection['stations'];

const height = 230;
const margin = { top: 22, right: 44, bottom: 42, left: 34 };
const lowest = 16; // pixels between stations, at least

/** A chart of the stations of one part. The axis is given, so that both parts can be compared. */
export function createScaleChart(
  strings: HoodStrings,
  part: 'encoder' | 'decoder',
  stations: Stations,
  pieces: readonly string[],
  [low, high]: readonly [number, number],
): HTMLElement {
  const names = pieces.map((piece) => pieceText(piece, strings.end));
  let station = 0;
  let token = -1;

  const chart = svg('svg', { role: 'img', 'aria-label': `log₂ s, ${strings[part]}` });
  const slider = make('input', {
    type: 'range',
    min: 0,
    max: stations.length - 1,
    step: 1,
    value: 0,
    'aria-label': `${strings.station}, ${strings[part]}`,
  });
  const readout = make('output', { class: 'hood-readout' });
  const chips = names.map((name, i) =>
    make('button', { type: 'button', 'aria-pressed': 'false', 'data-token': i }, name),
  );
  const plot = make('div', { class: 'hood-chart' }, chart, slider);
  const element = make(
    'figure',
    { class: 'hood-figure' },
    make('figcaption', {}, strings[part]),
    make('div', { class: 'hood-scroll' }, plot),
    readout,
    make('div', { class: 'hood-chips', role: 'group', 'aria-label': strings.pieces }, ...chips),
  );

  const name = (i: number) => {
    const own = stations[i];
    return own ? stationName(strings, own) : '';
  };

  let width = 0;
  const step = () => (width - margin.left - margin.right) / Math.max(1, stations.length - 1);
  const x = (i: number) => margin.left + i * step();
  const y = (log: number) =>
    margin.top + ((high - log) / (high - low)) * (height - margin.top - margin.bottom);

  const tell = () => {
    const scales = stations[station]?.scales ?? [];
    const scale = scales[token];
    slider.value = String(station);
    slider.setAttribute('aria-valuetext', name(station));
    readout.textContent =
      scale === undefined
        ? fill(strings.manyScales, {
            station: name(station),
            low: rounded(strings, Math.min(...scales), 3),
            high: rounded(strings, Math.max(...scales), 3),
          })
        : fill(strings.oneScale, {
            piece: names[token] ?? '',
            station: name(station),
            s: rounded(strings, scale, 4),
            log: Math.log2(scale).toFixed(2),
            reach: rounded(strings, 127 / scale, 3),
          });
    chips.forEach((chip, i) => {
      chip.setAttribute('aria-pressed', String(i === token));
    });
    chart.querySelector('.hood-guide')?.setAttribute('transform', `translate(${x(station).toFixed(1)} 0)`);
    chart.querySelectorAll('.hood-line').forEach((line, i) => {
      line.classList.toggle('hood-chosen', i === token);
      line.classList.toggle('hood-other', token >= 0 && i !== token);
    });
    // The dots are those of the station, one for each token.
    const dots = scales.map((own, i) =>
      svg('circle', {
        cx: x(station).toFixed(1),
        cy: y(Math.log2(own)).toFixed(1),
        r: i === token ? 5 : 3,
        class: token >= 0 && i !== token ? 'hood-other' : '',
      }),
    );
    chart.querySelector('.hood-dots')?.replaceChildren(...dots);
  };

  const draw = () => {
    const bottom = height - margin.bottom;
    chart.setAttribute('viewBox', `0 0 ${String(width)} ${String(height)}`);
    chart.setAttribute('width', String(width));
    chart.setAttribute('height', String(height));
    const text = (at: number, top: number, content: string, anchor = 'middle') =>
      svg('text', { x: at.toFixed(1), y: top.toFixed(1), 'text-anchor': anchor }, content);
    const grid = svg('g', { class: 'hood-grid' });
    for (let log = low; log <= high; ++log) {
      grid.append(
        svg('line', { x1: margin.left, x2: width - margin.right, y1: y(log), y2: y(log) }),
        text(margin.left - 8, y(log) + 4, String(log), 'end'),
        text(width - margin.right + 8, y(log) + 4, rounded(strings, 127 / 2 ** log, 2), 'start'),
      );
    }
    grid.append(text(margin.left - 8, 11, 'log₂ s', 'start'), text(width - 2, 11, strings.reach, 'end'));
    const labels = svg(
      'g',
      { class: 'hood-labels' },
      ...stations.map(({ name }, i) => text(x(i), bottom + 17, strings.initials[name])),
    );
    layersOf(stations).forEach(({ layer, from, to }, i) => {
      const left = x(from) - step() / 2;
      const box = {
        x: left.toFixed(1),
        y: margin.top,
        width: ((to - from + 1) * step()).toFixed(1),
        height: bottom - margin.top,
      };
      if (i % 2 === 0) grid.prepend(svg('rect', box));
      labels.append(text((x(from) + x(to)) / 2, bottom + 34, String(layer + 1)));
    });
    const lines = pieces.map((_, i) => {
      const points = stations.map(
        ({ scales }, j) => `${x(j).toFixed(1)},${y(Math.log2(scales[i] ?? 1)).toFixed(1)}`,
      );
      // The residual stream ends before the last norm, whose values are on a scale of their own.
      const stream = svg('polyline', { points: points.slice(0, -1).join(' ') });
      return svg(
        'g',
        { class: 'hood-line' },
        stream,
        svg('polyline', { points: points.slice(-2).join(' ') }),
      );
    });
    const guide = svg('line', { class: 'hood-guide', y1: margin.top, y2: bottom });
    chart.replaceChildren(grid, labels, guide, svg('g', {}, ...lines), svg('g', { class: 'hood-dots' }));
    slider.style.marginInlineStart = `${String(margin.left - 8)}px`;
    slider.style.width = `${String(x(stations.length - 1) - x(0) + 16)}px`;
    tell();
  };

  chart.addEventListener('pointermove', ({ clientX, clientY }) => {
    const { left, top } = chart.getBoundingClientRect();
    const last = stations.length - 1;
    station = Math.max(0, Math.min(last, Math.round((clientX - left - margin.left) / step())));
    const distances = (stations[station]?.scales ?? []).map((scale) =>
      Math.abs(y(Math.log2(scale)) - clientY + top),
    );
    token = distances.indexOf(Math.min(...distances));
    tell();
  });
  slider.addEventListener('input', () => {
    station = Number(slider.value);
    tell();
  });
  element.addEventListener('click', ({ target }) => {
    const chip = target instanceof HTMLElement ? target.dataset.token : undefined;
    if (chip === undefined) return;
    token = token === Number(chip) ? -1 : Number(chip);
    tell();
  });
  new ResizeObserver(([entry]) => {
    const room = Math.floor(entry?.contentRect.width ?? 0);
    const next = Math.max(room, margin.left + margin.right + lowest * (stations.length - 1));
    if (next === width || !room) return;
    width = next;
    requestAnimationFrame(draw); // which changes sizes, and they must not change while they are observed
  }).observe(element);
  return element;
}

/** Which stations belong to which layer. */
function layersOf(stations: Stations): { layer: number; from: number; to: number }[] {
  const layers: { layer: number; from: number; to: number }[] = [];
  stations.forEach(({ layer, name }, i) => {
    if (name === 'embedding' || name === 'norm') return;
    const last = layers.at(-1);
    if (last?.layer === layer) last.to = i;
    else layers.push({ layer, from: i, to: i });
  });
  return layers;
}
