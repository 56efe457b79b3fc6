// The models on this device: how large, since when, and away with them.
import type { StoredModel } from 'octavo';
import { announce } from '../announce.js';
import { iconButton, make } from '../dom.js';
import { bytes, date, pairName, strings } from '../language.js';
import type { Session } from '../session.js';
import { openDialog } from './dialog.js';

const nameOf = ({ sourceLanguage, targetLanguage, name }: StoredModel) =>
  sourceLanguage && targetLanguage ? pairName(sourceLanguage, targetLanguage) : name;

/** Opens the list; `changed` is told after a model was deleted. */
export function openModels(session: Session, changed: () => void): void {
  const words = strings().modelsDialog;
  const list = make('ul', { class: 'entries' });

  const row = (model: StoredModel) => {
    const name = nameOf(model);
    const facts = [
      bytes(model.bytes),
      ...(model.stored ? [words.stored(date(model.stored))] : []),
      ...(model.license ? [words.licence(model.license)] : []),
    ];
    const remove = async () => {
      await session.store.delete(model.id);
      announce(words.deleted(name));
      await render();
      (dialog.querySelector<HTMLElement>('li button') ?? dialog.querySelector('button'))?.focus();
      changed();
    };
    return make(
      'li',
      {},
      make(
        'span',
        { class: 'entry' },
        make('span', { class: 'line' }, name),
        make('span', { class: 'muted' }, facts.join(' · ')),
      ),
      iconButton('delete', words.delete(name), () => void remove()),
    );
  };

  const render = async () => {
    const stored = await session.store.list().catch(() => []);
    list.replaceChildren(
      ...(stored.length > 0 ? stored.map(row) : [make('li', { class: 'muted' }, words.empty)]),
    );
  };

  const dialog = openDialog('models', words.title, list);
  void render();
}
