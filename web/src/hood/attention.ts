// The attention of the decoder to the source, as a table whose cells are coloured by the integers in them.
import type { Inspection } from 'octavo';
import { make } from '../dom.js';
import { pieceText } from './dom.js';
import { type HoodStrings, fill, number } from './strings.js';

/** The heat map. */
export interface AttentionMap {
  readonly element: HTMLElement;
  show(inspection: Inspection): void;
}

const allHeads = -1;

/** The weights of one head of a layer, or the sums over all of its heads; all are integers. */
export function weightsOf(
  { attention, source, target }: Inspection,
  layer: number,
  head: number,
): number[][] {
  const heads = attention.filter((own) => own.layer === layer && (head === allHeads || own.head === head));
  return target.map((_, row) =>
    source.map((_, column) => heads.reduce((sum, { weights }) => sum + (weights[row]?.[column] ?? 0), 0)),
  );
}

export function createAttentionMap(strings: HoodStrings): AttentionMap {
  const layer = make('select');
  const head = make('select');
  const place = make('div', { class: 'hood-scroll' });
  const readout = make('p', { class: 'hood-readout' });
  const controls = make(
    'div',
    { class: 'hood-controls' },
    make('label', {}, strings.layer, ' ', layer),
    make('label', {}, strings.head, ' ', head),
  );
  const element = make(
    'section',
    { class: 'hood-section' },
    make('h2', {}, strings.attention),
    make('p', {}, strings.attentionCaption),
    controls,
    place,
    readout,
  );

  let inspection: Inspection | undefined;
  let weights: number[][] = [];
  let cells: HTMLTableCellElement[][] = [];
  let at: readonly [row: number, column: number] = [0, 0];

  const choose = (
    select: HTMLSelectElement,
    options: readonly (readonly [number, string])[],
    wanted: number,
  ) => {
    const before = select.options.length === options.length ? select.value : String(wanted);
    select.replaceChildren(...options.map(([value, text]) => make('option', { value }, text)));
    select.value = before;
  };

  const point = (row: number, column: number) => {
    const piece = (pieces: readonly string[] | undefined, i: number) =>
      pieceText(pieces?.[i] ?? '', strings.end);
    const own = weights[row] ?? [];
    const total = own.reduce((sum, weight) => sum + weight, 0);
    const share = number(strings, total ? (own[column] ?? 0) / total : 0, { style: 'percent' });
    const values = {
      target: piece(inspection?.target, row),
      source: piece(inspection?.source, column),
      n: own[column] ?? 0,
      share,
    };
    readout.textContent = fill(strings.cell, values);
    for (const marked of place.querySelectorAll('.hood-here')) marked.classList.remove('hood-here');
    const table = place.querySelector('table');
    table?.rows[0]?.cells[column + 1]?.classList.add('hood-here');
    table?.rows[row + 1]?.cells[0]?.classList.add('hood-here');
  };

  const draw = () => {
    if (!inspection) return;
    weights = weightsOf(inspection, Number(layer.value), Number(head.value));
    const label = (piece: string) => make('span', {}, pieceText(piece, strings.end));
    const most = Math.max(1, ...weights.flat());
    const cellOf = (weight: number) => {
      const cell = make('td', { tabindex: -1, class: weight ? 'hood-warm' : '' }, String(weight));
      cell.style.setProperty('--share', `${String((100 * weight) / most)}%`);
      return cell;
    };
    cells = weights.map((row) => row.map(cellOf));
    const headings = inspection.source.map((piece) => make('th', { scope: 'col' }, label(piece)));
    const rows = cells.map((row, i) =>
      make('tr', {}, make('th', { scope: 'row' }, label(inspection?.target[i] ?? '')), ...row),
    );
    // Numbers would make the map of a long sentence unwieldy; they are told for the cell that is pointed at.
    const isDense = inspection.source.length > 22 || inspection.target.length > 22;
    const table = make(
      'table',
      {
        class: isDense ? 'hood-heat hood-dense' : 'hood-heat',
        role: 'grid',
        'aria-label': strings.attention,
      },
      make('thead', {}, make('tr', {}, make('td'), ...headings)),
      make('tbody', {}, ...rows),
    );
    at = [0, 0];
    cells[0]?.[0]?.setAttribute('tabindex', '0');
    place.replaceChildren(table);
    point(...at);
  };

  const placeOf = (target: EventTarget | null): readonly [number, number] | undefined => {
    const cell = (target as Element).closest<HTMLTableCellElement>('tbody td');
    const row = cell?.closest('tr');
    return cell && row ? [row.rowIndex - 1, cell.cellIndex - 1] : undefined;
  };
  place.addEventListener('pointerover', ({ target }) => {
    const found = placeOf(target);
    if (found) point(...found);
  });
  place.addEventListener('focusin', ({ target }) => {
    const found = placeOf(target);
    if (!found) return;
    cells[at[0]]?.[at[1]]?.setAttribute('tabindex', '-1');
    at = found;
    cells[at[0]]?.[at[1]]?.setAttribute('tabindex', '0');
    point(...found);
  });
  place.addEventListener('keydown', (event) => {
    const [row, column] = at;
    const steps: Readonly<Record<string, readonly [number, number]>> = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      Home: [row, 0],
      End: [row, (cells[row]?.length ?? 1) - 1],
    };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    cells[step[0]]?.[step[1]]?.focus();
  });
  layer.addEventListener('change', draw);
  head.addEventListener('change', draw);

  return {
    element,
    show(next) {
      inspection = next;
      const numbers = (values: readonly number[]) => [...new Set(values)].sort((a, b) => a - b);
      const layers = numbers(next.attention.map((own) => own.layer));
      const heads = numbers(next.attention.map((own) => own.head));
      const name = (text: string, i: number) => [i, fill(text, { n: i + 1 })] as const;
      choose(
        layer,
        layers.map((i) => name(strings.layerNumber, i)),
        layers.at(-1) ?? 0,
      );
      choose(
        head,
        [[allHeads, strings.allHeads], ...heads.map((i) => name(strings.headNumber, i))],
        allHeads,
      );
      draw();
    },
  };
}
