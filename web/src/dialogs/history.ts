// The history: searched, opened again, erased.
import { announce } from '../announce.js';
import { button, iconButton, make } from '../dom.js';
import { type Remembered, history } from '../history.js';
import { date, number, pairName, strings } from '../language.js';
import { openDialog } from './dialog.js';

const excerpt = (text: string) => (text.length > 300 ? `${text.slice(0, 300)}…` : text);

/** Opens the history; a chosen entry is handed over. */
export function openHistory(take: (entry: Remembered) => void): void {
  const words = strings().historyDialog;
  const list = make('ul', { class: 'entries' });
  const search = make('input', { type: 'search', placeholder: words.search, 'aria-label': words.search });

  const row = (entry: Remembered) => {
    const open = make(
      'button',
      { type: 'button', class: 'entry' },
      make('span', { class: 'muted' }, `${date(entry.time)} · ${pairName(entry.source, entry.target)}`),
      make('span', { class: 'line', dir: 'auto', lang: entry.source }, excerpt(entry.text)),
      make('span', { class: 'line second', dir: 'auto', lang: entry.target }, excerpt(entry.translation)),
    );
    open.addEventListener('click', () => {
      dialog.close();
      take(entry);
    });
    const remove = () => {
      history.delete(entry.time);
      announce(render());
      search.focus();
    };
    return make('li', {}, open, iconButton('delete', words.delete, remove));
  };

  /** Shows what is found, and says how much that is. */
  const render = (): string => {
    const found = history.find(search.value);
    const nothing = search.value ? strings().nothing : words.empty;
    const none = found.length === 0;
    list.replaceChildren(...(none ? [make('li', { class: 'muted' }, nothing)] : found.map(row)));
    clear.hidden = history.list().length === 0;
    return none ? nothing : words.found(number(found.length));
  };

  const clear = button(
    words.clear,
    () => {
      history.clear();
      announce(render());
      search.focus();
    },
    { kind: 'plain', symbol: 'delete' },
  );
  const keep = make('input', { type: 'checkbox', id: 'keep-history' });
  keep.checked = history.enabled;
  keep.addEventListener('change', () => {
    history.enabled = keep.checked;
  });
  search.addEventListener('input', () => {
    announce(render());
  });
  const label = make('label', { for: keep.id }, words.keep);
  const foot = make('footer', {}, make('span', { class: 'check' }, keep, label), clear);
  render();
  const dialog = openDialog(
    'history',
    strings().history,
    make('p', { class: 'muted' }, words.note),
    search,
    list,
    foot,
  );
  search.focus();
}
