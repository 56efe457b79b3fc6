// A menu of other translations of a sentence: those that differ in the word that was clicked come first.
import type { Translator } from 'octavo';
import { differences, differsAt } from './differences.js';
import { byId, make } from './dom.js';
import type { Passage } from './highlight.js';
import { strings } from './language.js';
import { wordAt } from './linking.js';
import type { TargetPane } from './target-pane.js';

const most = 6;

async function translationsOf(
  original: string,
  translator: Translator,
  signal: AbortSignal,
): Promise<string[]> {
  const { sentences } = await translator.translate(original, { alternatives: most, signal });
  // What is one sentence in its text is nearly always one by itself, too.
  return sentences.length === 1 ? (sentences[0]?.alternatives ?? []).map(({ text }) => text) : [];
}

export function startAlternatives(
  target: TargetPane,
  translator: () => Translator | undefined,
  onChosen: () => void,
): void {
  const menu = byId('alternatives');
  let stop = new AbortController();
  let opened = 0;

  menu.addEventListener('toggle', (event) => {
    if (event.newState !== 'closed') return;
    stop.abort();
    target.onPoint(undefined);
    // Closing from within leaves the focus nowhere; it belongs to the sentence.
    if (document.activeElement === document.body || menu.contains(document.activeElement))
      target.focus(opened);
  });
  menu.addEventListener('keydown', (event) => {
    const items = [...menu.querySelectorAll<HTMLElement>('[role="menuitemradio"]')];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const to =
      step === undefined
        ? { Home: 0, End: items.length - 1 }[event.key]
        : (items.indexOf(document.activeElement as HTMLElement) + step + items.length) % items.length;
    if (event.key === 'Tab') menu.hidePopover();
    if (to === undefined) return;
    event.preventDefault();
    items[to]?.focus();
  });

  const note = (text: string) => make('p', { class: 'muted', role: 'presentation' }, text);

  const item = (index: number, current: string, text: string) => {
    const element = make('button', {
      type: 'button',
      role: 'menuitemradio',
      'aria-checked': String(text === current),
      dir: 'auto',
      lang: target.element.lang,
    });
    for (const { text: stretch, different } of differences(text, current)) {
      element.append(different ? make('strong', {}, stretch) : stretch);
    }
    element.addEventListener('click', () => {
      target.choose(index, text);
      menu.hidePopover();
      target.focus(index);
      onChosen();
    });
    return element;
  };

  /** Below the word, or above it if there is no room; the style sheet makes it a sheet at the foot of small screens. */
  const place = (index: number, word: Passage | undefined) => {
    const { left, bottom, top } = target.rectOf(index, word);
    const { width, height } = menu.getBoundingClientRect();
    const { right } = byId('book').getBoundingClientRect();
    const below = bottom + 8 + height <= innerHeight;
    menu.style.setProperty('--left', `${String(Math.max(8, Math.min(left, right - width - 8)))}px`);
    menu.style.setProperty('--top', `${String(below ? bottom + 8 : Math.max(8, top - height - 8))}px`);
  };

  target.onOpen = (index, offset) => {
    const entry = target.entries[index];
    const engine = translator();
    if (!entry || !engine) return;
    stop.abort();
    const mine = new AbortController();
    stop = mine;
    opened = index;
    const word = offset === undefined ? undefined : wordAt(entry, offset);
    const heading = make('p', { class: 'heading', role: 'presentation' }, strings().alternatives);
    const show = (...children: HTMLElement[]) => {
      menu.replaceChildren(heading, ...children);
      place(index, word);
    };
    menu.showPopover();
    show(note(strings().alternativesWait));
    void translationsOf(entry.original, engine, mine.signal).then(
      (texts) => {
        if (mine.signal.aborted) return;
        const others = texts.filter((text) => text !== entry.text);
        const concerned = (text: string) => word !== undefined && differsAt(entry.text, text, word);
        const sorted = [...others.filter(concerned), ...others.filter((text) => !concerned(text))];
        const items = sorted.map((text) => item(index, entry.text, text));
        show(item(index, entry.text, entry.text), ...(items.length > 0 ? items : [note(strings().nothing)]));
        (items[0] ?? menu.querySelector('button'))?.focus({ preventScroll: true });
      },
      () => {
        if (!mine.signal.aborted) show(note(strings().nothing));
      },
    );
  };
}
