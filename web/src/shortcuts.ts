// Keyboard shortcuts, and the list of them. All have a modifier: single letters belong to the text.
import { openDialog } from './dialogs/dialog.js';
import { make } from './dom.js';
import { strings } from './language.js';

/** By the string that says what it does. */
type Name =
  | 'translateNow'
  | 'swap'
  | 'copyTranslation'
  | 'openFile'
  | 'saveTranslation'
  | 'clearText'
  | 'history'
  | 'models'
  | 'hood'
  | 'help';

// All with Alt and Shift, but for Enter, which has Control as in other programs.
const keys: Readonly<Record<Name, string>> = {
  translateNow: 'Enter',
  swap: 'X',
  copyTranslation: 'C',
  openFile: 'O',
  saveTranslation: 'S',
  clearText: 'Backspace',
  history: 'H',
  models: 'M',
  hood: 'U',
  help: 'K',
};

const apple = /Mac|iPhone|iPad/.test(navigator.userAgent);
const control = apple ? ['⌘'] : ['Ctrl'];
const altShift = apple ? ['⌥', '⇧'] : ['Alt', 'Shift'];

export function startShortcuts(actions: Readonly<Record<Exclude<Name, 'help'>, () => void>>): void {
  const all: Record<Name, () => void> = { ...actions, help: openHelp };
  addEventListener('keydown', (event) => {
    // The key's place on the keyboard: with Alt, it may write another character.
    const { code, altKey, shiftKey } = event;
    const withControl = event.ctrlKey || event.metaKey;
    const found = (Object.keys(keys) as Name[]).find((name) => code.replace('Key', '') === keys[name]);
    const other = found !== 'translateNow';
    if (!found || withControl === other || altKey !== other || shiftKey !== other) return;
    event.preventDefault();
    all[found]();
  });
}

/** Shows the list. */
export function openHelp(): void {
  const words = strings().helpDialog;
  const meanings = { ...strings(), ...words };
  const row = (meaning: string, ...shown: string[]) => [
    make('dt', {}, ...shown.map((key) => make('kbd', {}, key))),
    make('dd', {}, meaning),
  ];
  const everywhere = (Object.keys(keys) as Name[]).flatMap((name) =>
    row(
      meanings[name],
      ...(name === 'translateNow' ? control : altShift),
      keys[name].replace('Backspace', '⌫'),
    ),
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
