// How the scales travel through the network.
import type { Inspection } from 'octavo';
import { make } from '../dom.js';
import { createScaleChart } from './scale-chart.js';
import { type HoodStrings, fill, number } from './strings.js';

/** The lower part of the panel. */
export interface ScaleView {
  readonly element: HTMLElement;
  /** Shows the scales of a sentence; `width` is how many integers a row has. */
  show(inspection: Inspection, width: number): void;
}

export function createScaleView(strings: HoodStrings): ScaleView {
  const count = make('p');
  const charts = make('div', { class: 'hood-charts' });
  const names = ['embedding', 'attention', 'cross', 'ffn', 'norm'] as const;
  const legend = names.map((name) => `${strings.initials[name]} ${strings.stations[name]}`);
  const element = make(
    'section',
    { class: 'hood-section' },
    make('h2', {}, strings.scales),
    make('p', {}, strings.scalesCaption),
    rowFigure(strings),
    count,
    charts,
    make('p', {}, make('small', {}, legend.join(' · '))),
  );
  return {
    element,
    show(inspection, width) {
      const { stations, source, target } = inspection;
      const scales = stations.reduce((sum, own) => sum + own.scales.length, 0);
      count.textContent = width
        ? fill(strings.scalesCount, {
            integers: number(strings, scales * width),
            scales: number(strings, scales),
          })
        : '';
      const logs = stations.flatMap((own) => own.scales.map(Math.log2)).filter(Number.isFinite);
      const range = [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs))] as const;
      const parts = ['encoder', 'decoder'] as const;
      charts.replaceChildren(
        ...parts.map((part) => {
          const own = stations.filter((station) => station.part === part);
          return createScaleChart(strings, part, own, part === 'encoder' ? source : target, range);
        }),
      );
    },
  };
}

/** {x, s}: a row of integers, and the one scale that belongs to it. */
function rowFigure(strings: HoodStrings): HTMLElement {
  const integers = ['x₁', 'x₂', 'x₃', '…', 'xₙ'].map((text) => make('span', {}, text));
  return make(
    'div',
    { class: 'hood-row', 'aria-hidden': 'true' },
    make('span', { class: 'hood-integers' }, ...integers),
    make('small', {}, 'INT8'),
    make('span', { class: 'hood-scale' }, 's'),
    make('small', {}, strings.rowScale),
  );
}
