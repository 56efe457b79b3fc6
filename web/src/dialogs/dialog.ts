// What all dialogs have: a heading, a button that closes, and a place for their content.
import { iconButton, make } from '../dom.js';
import { strings } from '../language.js';

/** Opens a modal dialog; it is gone from the page when it is closed. */
export function openDialog(name: string, title: string, ...content: Node[]): HTMLDialogElement {
  document.querySelector<HTMLDialogElement>('dialog[open]')?.close();
  const close = () => {
    dialog.close();
  };
  const heading = make('h2', { id: `${name}-title` }, title);
  const head = make('header', {}, heading, iconButton('clear', strings().close, close));
  const status = make('p', { class: 'visually-hidden', role: 'status' });
  const body = make('div', { class: 'dialog-body' }, head, ...content, status);
  const dialog = make('dialog', { class: name, 'aria-labelledby': heading.id }, body);
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) close(); // beside the content
  });
  dialog.addEventListener('close', () => {
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
