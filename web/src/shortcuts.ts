// Keyboard shortcuts, and the list of them. All have a modifier: single letters belong to the text.
import { openDialog } from './dialogs/dialog.js';
import { make } from './dom.js';
import { strings } from './language.js';

type Name = Exclude<
  keyof ReturnType<typeof strings>['helpDialog'],
  'title' | 'inTranslation' | 'words' | 'sentences' | 'alternatives' | 'leave'
>;

// By the key's place on the keyboard: with Alt, a key may write another character.
const keys: Readonly<Record<Name, { code: string; shown: string; modifier: 'control' | 'alt-shift' }>> = {
  translateNow: { code: 'Enter', shown: 'Enter', modifier: 'control' },
  swap: { code: 'KeyX', shown: 'X', modifier: 'alt-shift' },
  copy: { code: 'KeyC', shown: 'C', modifier: 'alt-shift' },
  open: { code: 'KeyO', shown: 'O', modifier: 'alt-shift' },
  save: { code: 'KeyS', shown: 'S', modifier: 'alt-shift' },
  clear: { code: 'Backspace', shown: '⌫', modifier: 'alt-shift' },
  history: { code: 'KeyH', shown: 'H', modifier: 'alt-shift' },
  models: { code: 'KeyM', shown: 'M', modifier: 'alt-shift' },
  hood: { code: 'KeyU', shown: 'U', modifier: 'alt-shift' },
  help: { code: 'KeyK', shown: 'K', modifier: 'alt-shift' },
};

const apple = /Mac|iPhone|iPad/.test(navigator.userAgent);
const modifiers = {
  control: apple ? ['⌘'] : ['Ctrl'],
  'alt-shift': apple ? ['⌥', '⇧'] : ['Alt', 'Shift'],
};

export function startShortcuts(actions: Readonly<Record<Exclude<Name, 'help'>, () => void>>): void {
  const all: Record<Name, () => void> = { ...actions, help: openHelp };
  addEventListener('keydown', (event) => {
    const { code, altKey, shiftKey } = event;
    const control = event.ctrlKey || event.metaKey;
    const pressed =
      control && !altKey && !shiftKey ? 'control' : altKey && shiftKey && !control ? 'alt-shift' : undefined;
    const found = (Object.keys(keys) as Name[]).find(
      (name) => keys[name].code === code && keys[name].modifier === pressed,
    );
    if (!found) return;
    event.preventDefault();
    all[found]();
  });
}

/** Shows the list. */
export function openHelp(): void {
  const words = strings().helpDialog;
  const row = (meaning: string, ...shown: string[]) => [
    make('dt', {}, ...shown.map((key) => make('kbd', {}, key))),
    make('dd', {}, meaning),
  ];
  const everywhere = (Object.keys(keys) as Name[]).flatMap((name) =>
    row(words[name], ...modifiers[keys[name].modifier], keys[name].shown),
  );
  const inTranslation = [
    ...row(words.words, '←', '→'),
    ...row(words.sentences, '↑', '↓'),
    ...row(words.alternatives, 'Enter'),
    ...row(words.leave, 'Esc'),
  ];
  openDialog(
    'help',
    words.title,
    make('dl', {}, ...everywhere),
    make('h3', {}, words.inTranslation),
    make('dl', {}, ...inTranslation),
  );
}
