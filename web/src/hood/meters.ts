// What translates, and what that takes: kernel, speed, time, memory, size.
import type { EngineInfo } from 'octavo';
import { make } from '../dom.js';
import { svg } from './dom.js';
import { parameterCount } from './size.js';
import { type HoodStrings, fill, number } from './strings.js';

/** The upper part of the panel. */
export interface Meters {
  readonly element: HTMLElement;
  update(engine: EngineInfo | undefined): void;
  measured(milliseconds: number, tokens: number): void;
}

const kept = 48;
const [plotWidth, plotHeight] = [240, 48];

export function createMeters(strings: HoodStrings): Meters {
  const format = (value: number, digits = 0) =>
    number(strings, value, { maximumFractionDigits: digits, minimumFractionDigits: digits });
  const megabytes = (bytes: number) => `${format(bytes / 1e6, bytes < 1e7 ? 2 : 1)} MB`;
  const meter = (name: string, unit = '') => {
    const value = make('strong', { class: 'hood-value' }, '–');
    const note = make('small', { class: 'hood-note' });
    const line = make('span', {}, value, ...(unit ? [' ', make('small', {}, unit)] : []));
    return {
      value,
      note,
      element: make('div', { class: 'hood-meter' }, make('span', { class: 'hood-name' }, name), line, note),
    };
  };
  const kernel = meter(strings.kernel);
  const speed = meter(strings.speed, strings.speedUnit);
  const time = meter(strings.time, strings.timeUnit);
  const memory = meter(strings.memory);
  const size = make(
    'div',
    { class: 'hood-meter hood-size' },
    make('span', { class: 'hood-name' }, strings.size),
  );
  const sizes = size.appendChild(make('div', { class: 'hood-bars' }));
  const plot = svg('svg', {
    class: 'hood-plot',
    viewBox: `0 0 ${String(plotWidth)} ${String(plotHeight)}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': strings.speed,
  });
  speed.element.append(plot);
  let rates: number[] = [];
  let times: number[] = [];

  /** A bar of two parts, as long as its share of the largest. */
  const bar = (name: string, engine: number, model: number, most: number) => {
    const part = (bytes: number, kind: string) => {
      const element = make('span', { class: `hood-bar-${kind}` });
      element.style.width = `${String((100 * bytes) / most)}%`;
      return element;
    };
    const label = make('span', {}, name, ' ', make('b', {}, megabytes(engine + model)));
    return [
      label,
      make(
        'span',
        { class: 'hood-bar-line', 'aria-hidden': 'true' },
        part(engine, 'engine'),
        part(model, 'model'),
      ),
    ];
  };

  /** What was measured; before that, what the engine knows of itself. */
  const drawRates = ({ tokensPerSecond }: EngineInfo) => {
    const rate = rates.at(-1) ?? tokensPerSecond;
    speed.value.textContent = rate > 0 ? format(rate) : '–';
    const milliseconds = times.at(-1);
    if (milliseconds === undefined) return;
    time.value.textContent = format(milliseconds, milliseconds < 10 ? 1 : 0);
    const sorted = [...times].sort((a, b) => a - b);
    time.note.textContent = fill(strings.median, { n: format(sorted[sorted.length >> 1] ?? 0) });
    const most = Math.max(...rates);
    const points = rates.map((own, i) => {
      const x = (i / Math.max(1, rates.length - 1)) * plotWidth;
      return `${x.toFixed(1)},${(plotHeight - 2 - (own / most) * (plotHeight - 6)).toFixed(1)}`;
    });
    const line = points.join(' ');
    plot.replaceChildren(
      svg('polygon', {
        points: `0,${String(plotHeight)} ${line} ${String(plotWidth)},${String(plotHeight)}`,
      }),
      svg('polyline', { points: line }),
    );
    const range = `${format(Math.min(...rates))} … ${format(most)} ${strings.speedUnit}`;
    plot.setAttribute('aria-label', `${strings.speed}: ${range}`);
  };

  const element = make(
    'div',
    { class: 'hood-meters' },
    kernel.element,
    speed.element,
    time.element,
    memory.element,
    size,
  );
  return {
    element,
    update(engine) {
      kernel.value.textContent = engine?.kernel ?? '–';
      kernel.note.textContent = engine ? `${String(engine.workers)} × WebAssembly` : '';
      memory.value.textContent = engine ? megabytes(engine.memoryBytes) : '–';
      sizes.replaceChildren();
      if (!engine) return;
      drawRates(engine);
      const { wasmBytes, modelBytes } = engine;
      const parameters = parameterCount(engine.model);
      const isInteger = engine.model.flavour === 'int8';
      const floatBytes = parameters === undefined || !isInteger ? 0 : 4 * parameters;
      const most = wasmBytes + Math.max(modelBytes, floatBytes);
      sizes.append(...bar(isInteger ? strings.inInt8 : 'FP32', wasmBytes, modelBytes, most));
      if (!floatBytes || parameters === undefined) return;
      sizes.append(...bar(strings.inFP32, wasmBytes, floatBytes, most));
      const values = {
        parameters: format(parameters),
        engine: megabytes(wasmBytes),
        model: megabytes(modelBytes),
        n: format(floatBytes / modelBytes, 1),
      };
      sizes.append(make('small', {}, fill(strings.smaller, values)));
    },
    measured(milliseconds, tokens) {
      if (!(milliseconds > 0) || !(tokens > 0)) return;
      rates = [...rates, (1000 * tokens) / milliseconds].slice(-kept);
      times = [...times, milliseconds].slice(-kept);
    },
  };
}
