// The page, put together.
import { takeRequest } from './address.js';
import { startAlternatives } from './alternatives.js';
import { announce, toast } from './announce.js';
import { startCard } from './card.js';
import { openHistory } from './dialogs/history.js';
import { openModels } from './dialogs/models.js';
import { Documents } from './documents.js';
import { byId, icon } from './dom.js';
import { openFile, takeFiles } from './files.js';
import { type Remembered, history } from './history.js';
import { inEveryLanguage, startLanguage, strings } from './language.js';
import { Languages } from './languages.js';
import { linkPanes } from './linking.js';
import { Live } from './live.js';
import { startOffline } from './offline.js';
import { Session } from './session.js';
import { openHelp, startShortcuts } from './shortcuts.js';
import { ofThisTab } from './settings.js';
import { SourcePane } from './source-pane.js';
import { TargetPane } from './target-pane.js';
import { startTheme } from './theme.js';
import { startHood } from './under-the-hood.js';

// A text that nobody has changed for so long is worth remembering.
const restMilliseconds = 2500;

startLanguage();
startTheme();

const request = takeRequest();
const session = new Session();
const source = new SourcePane();
const target = new TargetPane();
const live = new Live(session, source, target);
const documents = new Documents(session, source, target, live);
const languages = new Languages(await session.store.offered(), request);

startCard(session);
linkPanes(source, target);

const choosePair = () => {
  source.field.lang = languages.source;
  target.element.lang = languages.target;
  void session.choose(languages.source, languages.target);
};
languages.onChange = choosePair;
languages.onSwap = () => {
  const translation = target.text;
  documents.close();
  if (translation) source.text = translation;
};

let remembering: ReturnType<typeof setTimeout> | undefined;
const remember = ({ text, translation }: { text: string; translation: string }) => {
  clearTimeout(remembering);
  const { source: from, target: to } = languages;
  const entry: Remembered = { time: Date.now(), source: from, target: to, text, translation };
  remembering = setTimeout(() => {
    history.add(entry);
  }, restMilliseconds);
};
const tellHood = startHood(session, source, target);
live.onFinish = (run) => {
  remember(run);
  void tellHood(run);
};
startAlternatives(
  target,
  () => session.translator,
  () => {
    const run = { text: source.text, translation: target.text, sentences: [], milliseconds: 0 };
    remember(run);
    void tellHood(run);
  },
);

const copy = byId('copy', HTMLButtonElement);
const copyTranslation = async () => {
  if (copy.disabled) return;
  const translation = documents.translation();
  // Browsers give leave only while the click is young: what is still being translated is promised then.
  const promised = translation.then((text) =>
    text ? new Blob([text], { type: 'text/plain' }) : Promise.reject(new Error('nothing to copy')),
  );
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': promised })]);
  } catch {
    if (await translation) toast(strings().copyFailed);
    return;
  }
  announce(strings().copied);
  const show = (name: string) => copy.querySelector('svg')?.replaceWith(icon(name));
  show('done');
  setTimeout(show, 1500, 'copy');
};
copy.addEventListener('click', () => void copyTranslation());

const save = () => void documents.save();
byId('save').addEventListener('click', save);
byId('open').addEventListener('click', openFile);
takeFiles((file) => void documents.take(file));

const showHistory = () => {
  openHistory((entry) => {
    documents.close();
    languages.choose(entry.source, entry.target);
    source.text = entry.text;
    source.field.focus();
  });
};
const showModels = () => {
  openModels(session, choosePair);
};
byId('open-history').addEventListener('click', showHistory);
byId('open-models').addEventListener('click', showModels);
byId('open-help').addEventListener('click', openHelp);

startShortcuts({
  translateNow: () => {
    live.translate();
  },
  swap: () => {
    languages.swap();
  },
  copyTranslation: () => void copyTranslation(),
  openFile,
  saveTranslation: save,
  clearText: () => {
    byId('clear').click();
  },
  history: showHistory,
  models: showModels,
  hood: () => {
    byId('hood').querySelector('summary')?.click();
  },
});

const showPromise = () => {
  byId('promise').textContent = navigator.onLine ? strings().promise : strings().promiseOffline;
};
addEventListener('online', showPromise);
addEventListener('offline', showPromise);
inEveryLanguage(() => {
  document.title = `Octavo · ${strings().translation}`;
  showPromise();
});
// A link to the page that is open already changes only what follows the #.
addEventListener('hashchange', () => {
  const { text, from, to } = takeRequest();
  if (text === undefined) return;
  documents.close();
  languages.choose(from ?? languages.source, to ?? languages.target);
  source.text = text;
});
// What was being written survives a reload of its tab, and nothing longer; a document is in its file.
source.text = request.text ?? ofThisTab.get('draft') ?? '';
addEventListener('pagehide', () => {
  ofThisTab.set('draft', documents.draft);
});
choosePair();
// On a phone this might bring up the keyboard.
if (matchMedia('(hover: hover)').matches) source.field.focus({ preventScroll: true });
void startOffline();
