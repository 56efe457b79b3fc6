// Telling the reader: quietly to a screen reader, or visibly at the foot of the page.
import { button, byId, make, setText } from './dom.js';
import { strings } from './language.js';

/** For screen readers only; says what the page shows elsewhere. */
export function announce(text: string): void {
  setText(byId('status'), text);
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
  message.append(button('', dismiss, { kind: 'quiet icon-only', symbol: 'clear', hint: strings().close }));
  byId('toasts').replaceChildren(message);
  setTimeout(dismiss, action ? 15_000 : 6_000);
}
