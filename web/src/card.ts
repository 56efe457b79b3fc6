// The card on the right-hand page as long as there is nothing that could translate: says what is needed, and gets it.
import { announce, reload, toast } from './announce.js';
import { button, byId, make } from './dom.js';
import { bytes, inEveryLanguage, pairName, percent, strings } from './language.js';
import type { Session, State, Trouble } from './session.js';

const leafCount = 8;

/** A sheet of eight leaves that fill as the download gets on: the name of the format, and the bits of a byte. */
function leaves(): { element: HTMLElement; fill: (share: number) => void } {
  const cells = Array.from({ length: leafCount }, () => make('i'));
  const element = make('div', { class: 'leaves', 'aria-hidden': true }, ...cells);
  return {
    element,
    fill: (share) => {
      cells.forEach((cell, i) => {
        const filled = Math.min(1, Math.max(0, share * leafCount - i));
        cell.style.setProperty('--filled', String(filled));
      });
    },
  };
}

export function startCard(session: Session): void {
  const card = byId('card');
  const sheet = leaves();
  const bar = make('progress', { max: 1 });
  const figures = make('p', { class: 'figures' });
  let shown = '';
  let announced = 0;

  const show = (...children: (Node | string)[]) => {
    const hadFocus = card.contains(document.activeElement);
    card.replaceChildren(...children);
    card.hidden = children.length === 0;
    // Whoever pressed a button of the card goes on from its next one, or reads on.
    if (hadFocus) (card.querySelector('button') ?? byId('source')).focus();
  };

  const heading = (text: string) => make('h2', {}, text);
  const download = (label: string) =>
    button(label, () => void session.download(), { kind: 'primary', symbol: 'save' });

  /** Only the figures change while a download goes on. */
  const progress = ({ model, loaded }: Extract<State, { kind: 'downloading' }>) => {
    const share = Math.min(1, loaded / model.bytes);
    sheet.fill(share);
    bar.value = share;
    figures.textContent = strings().card.progress(bytes(loaded), bytes(model.bytes), percent(share));
    const quarter = Math.floor(share * 4);
    if (quarter > announced) announce(strings().card.announce(percent(share)));
    announced = quarter;
  };

  const render = () => {
    const { state } = session;
    const words = strings().card;
    card.dataset.state = state.kind;
    switch (state.kind) {
      case 'checking':
        show();
        break;
      case 'loading':
        show(make('p', { class: 'muted' }, words.loading));
        break;
      case 'unsupported':
        show(heading(words.unsupportedTitle), make('p', {}, words.unsupported));
        break;
      case 'insecure':
        show(heading(words.insecureTitle), make('p', {}, words.insecure));
        break;
      case 'needed': {
        const { model, outdated, loaded } = state;
        sheet.fill(loaded / model.bytes);
        show(
          sheet.element,
          heading(outdated ? words.updateTitle : words.title),
          make('p', {}, (outdated ? words.updateText : words.text)(pairName(model.source, model.target))),
          download(
            loaded > 0 ? words.resume(bytes(model.bytes - loaded)) : words.download(bytes(model.bytes)),
          ),
        );
        break;
      }
      case 'downloading':
        bar.setAttribute('aria-label', words.downloading);
        show(
          sheet.element,
          heading(words.downloading),
          bar,
          figures,
          button(
            strings().cancel,
            () => {
              session.cancel();
            },
            { kind: 'plain' },
          ),
        );
        progress(state);
        break;
      case 'failed':
        show(
          heading(words.failed),
          make('p', { role: 'alert' }, words[state.trouble satisfies Trouble]),
          state.trouble === 'gone'
            ? button(strings().reload, reload, { kind: 'primary' })
            : button(strings().retry, () => void session.download(), { kind: 'primary' }),
        );
        break;
      case 'ready':
        show();
    }
  };

  session.addEventListener('change', () => {
    const { state } = session;
    const before = shown;
    shown = state.kind;
    if (state.kind === 'downloading' && before === 'downloading') progress(state);
    else render();
    if (state.kind !== 'ready' || !state.news) return;
    (state.news === 'ready' ? announce : toast)(strings().card[state.news]);
  });
  inEveryLanguage(render);
}
