// Telling the reader: quietly to a screen reader, or visibly at the foot of the page.
import { button, byId, iconButton, make } from './dom.js';
import { strings } from './language.js';

/** For screen readers only; says what the page shows elsewhere, even if it is the same once more. */
export function announce(text: string): void {
  // While a dialog is open, nothing outside of it is read out.
  const place = document.querySelector('dialog [role="status"]') ?? byId('status');
  place.textContent = text === place.textContent ? `${text}\u00a0` : text;
}

/** A message that goes away by itself, with something to do about it. Those with an action stay longer. */
export function toast(text: string, action?: { label: string; run: () => void }): void {
  const message = make('div', { class: 'toast' }, make('span', {}, text));
  const dismiss = () => {
    message.remove();
  };
  if (action) {
    const act = () => {
      dismiss();
      action.run();
    };
    message.append(button(action.label, act, { kind: 'plain' }));
  }
  message.append(iconButton('clear', strings().close, dismiss));
  byId('toasts').replaceChildren(message);
  // Nobody is hurried who is about to read or to press it.
  const leave = () => {
    if (!message.matches(':hover, :focus-within')) dismiss();
    else setTimeout(leave, 1000);
  };
  setTimeout(leave, action ? 15_000 : 6_000);
}

/** A message that something is to be had by opening the page anew; `run` may have to see to more than that. */
export const toastReload = (text: string, run = reload): void => {
  toast(text, { label: strings().reload, run });
};

export const reload = (): void => {
  location.reload();
};
