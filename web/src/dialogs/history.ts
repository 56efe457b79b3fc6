// The history: searched, opened again, erased.
import { announce } from '../announce.js';
import { button, make } from '../dom.js';
import { type Remembered, history } from '../history.js';
import { date, languageName, strings } from '../language.js';
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
      make(
        'span',
        { class: 'muted' },
        `${date(entry.time)} · ${languageName(entry.source)} → ${languageName(entry.target)}`,
      ),
      make('span', { class: 'line', dir: 'auto', lang: entry.source }, excerpt(entry.text)),
      make('span', { class: 'line second', dir: 'auto', lang: entry.target }, excerpt(entry.translation)),
    );
    open.addEventListener('click', () => {
      dialog.close();
      take(entry);
    });
    const remove = () => {
      history.delete(entry.time);
      render();
      search.focus();
    };
    return make(
      'li',
      {},
      open,
      button('', remove, { kind: 'quiet icon-only', symbol: 'delete', hint: words.delete }),
    );
  };

  const render = () => {
    const found = history.find(search.value);
    const nothing = search.value ? words.nothing : words.empty;
    list.replaceChildren(
      ...found.map(row),
      ...(found.length > 0 ? [] : [make('li', { class: 'muted' }, nothing)]),
    );
    clear.hidden = history.list().length === 0;
  };

  const clear = button(
    words.clear,
    () => {
      history.clear();
      render();
      announce(words.erased);
      search.focus();
    },
    { kind: 'plain', symbol: 'delete' },
  );
  const keep = make('input', { type: 'checkbox', id: 'keep-history' });
  keep.checked = history.enabled;
  keep.addEventListener('change', () => {
    history.enabled = keep.checked;
  });
  search.addEventListener('input', render);
  const label = make('label', { for: keep.id }, words.keep);
  const foot = make('footer', {}, make('span', { class: 'check' }, keep, label), clear);
  render();
  const dialog = openDialog(
    'history',
    words.title,
    make('p', { class: 'muted' }, words.note),
    search,
    list,
    foot,
  );
  search.focus();
}
