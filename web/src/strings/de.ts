// Alles, was die Seite sagt, auf Deutsch.
import type { Strings } from './en.js';

export const de: Strings = {
  skip: 'Zum Text springen',
  history: 'Verlauf',
  models: 'Modelle',
  shortcuts: 'Tastenkürzel',
  interfaceLanguage: 'Sprache der Seite',
  theme: { auto: 'Farben: wie im System', light: 'Farben: hell', dark: 'Farben: dunkel' },
  from: 'Ausgangssprache',
  to: 'Zielsprache',
  swap: 'Sprachen tauschen',
  unavailable: (pair) => `Für ${pair} gibt es noch kein Modell.`,
  original: 'Original',
  translation: 'Übersetzung',
  placeholder: 'Text eingeben, einfügen oder Datei hierher ziehen',
  hint: 'Hier erscheint die Übersetzung',
  open: 'Öffnen',
  openFile: 'Text, HTML, Markdown oder Untertitel öffnen',
  clear: 'Leeren',
  clearText: 'Text leeren',
  copy: 'Kopieren',
  copied: 'Kopiert',
  copyFailed: 'Der Browser erlaubt das Kopieren nicht. Bitte den Text markieren und selbst kopieren.',
  copyTranslation: 'Übersetzung kopieren',
  save: 'Speichern',
  saveTranslation: 'Übersetzung als Datei speichern',
  characters: (_, shown) => `${shown} Zeichen`,
  working: 'wird übersetzt …',
  translated: 'Die Übersetzung ist fertig.',
  unsure: 'Gepunktet: nicht sicher',
  unsureSentence: 'Bei diesem Satz nicht sicher',
  promise: 'Nichts, was Sie schreiben, verlässt dieses Gerät.',
  promiseOffline: 'Kein Netz. Es geht trotzdem.',
  hood: 'Unter der Haube',
  close: 'Schließen',
  cancel: 'Abbrechen',

  card: {
    title: 'Übersetzen auf diesem Gerät',
    text: (pair) =>
      `Octavo braucht keinen Server: Nichts, was Sie schreiben, verlässt dieses Gerät. Für ${pair} lädt es einmal ein Modell herunter. Danach geht es auch ohne Netz.`,
    updateTitle: 'Ein neues Modell ist da',
    updateText: (pair) =>
      `Für ${pair} gibt es ein neueres Modell als das auf diesem Gerät. Es ersetzt das alte.`,
    download: (size) => `${size} herunterladen`,
    resume: (size) => `Fortsetzen, noch ${size}`,
    downloading: 'Das Modell wird heruntergeladen',
    progress: (loaded, total, percent) => `${loaded} von ${total} · ${percent}`,
    announce: (percent) => `${percent} heruntergeladen`,
    loading: 'Das Modell wird geöffnet …',
    ready: 'Das Modell ist bereit. Jetzt geht es auch ohne Netz.',
    failed: 'Das hat nicht geklappt',
    network:
      'Der Download ist abgebrochen. Was angekommen ist, bleibt; bitte Verbindung prüfen und fortsetzen.',
    gone: 'Das Modell ist nicht mehr auf dem Server. Neu laden bringt die neueste Fassung der Seite.',
    offline:
      'Es gibt keine Verbindung, und das Modell ist noch nicht auf diesem Gerät. Einmal verbinden genügt.',
    damaged:
      'Was ankam, ist nicht die versprochene Datei (falsche Prüfsumme). Es wurde verworfen. Bitte später noch einmal versuchen.',
    memory:
      'Der Speicher reicht für das Modell nicht. Bitte andere Tabs schließen und noch einmal versuchen.',
    other: 'Die Engine ließ sich nicht starten.',
    insecureTitle: 'Diese Adresse ist nicht sicher',
    insecure:
      'Ein Modell behalten und prüfen darf eine Seite nur, wenn sie über https kommt oder von localhost.',
    unsupportedTitle: 'In diesem Browser läuft Octavo nicht',
    unsupported:
      'Octavo braucht WebAssembly mit SIMD, das jeder aktuelle Browser hat. Falls es abgeschaltet wurde, muss es wieder erlaubt werden.',
    notKept:
      'Es ist kein Platz, um das Modell zu behalten: Es geht jetzt, wird aber beim nächsten Mal erneut geladen.',
  },

  failure: 'Das ließ sich nicht übersetzen.',
  retry: 'Noch einmal versuchen',
  alternatives: 'Andere Übersetzungen dieses Satzes',
  nothing: 'Nichts gefunden.',
  alternativesWait: 'Suche nach anderen …',

  document: {
    kinds: {
      text: 'Text',
      html: 'HTML',
      markdown: 'Markdown',
      srt: 'Untertitel (SRT)',
      vtt: 'Untertitel (WebVTT)',
    },
    translating: (percent) => `Wird übersetzt, ${percent}`,
    ready: 'Übersetzt',
    waiting: 'Wartet auf das Modell',
    notText: (name) => `${name} ist keine Textdatei.`,
    tooLarge: (name, most) => `${name} ist größer als ${most}.`,
    failed: (name) => `${name} ließ sich nicht übersetzen.`,
    shortened: '… (hier endet die Vorschau; die gespeicherte Datei ist vollständig)',
  },

  historyDialog: {
    note: 'Wird nur in diesem Browser aufbewahrt.',
    search: 'Suchen',
    empty: 'Noch nichts. Übersetzungen erscheinen hier nach einem Augenblick.',
    found: (count) => `${count} gefunden`,
    delete: 'Diesen Eintrag löschen',
    clear: 'Alles löschen',
    keep: 'Verlauf speichern',
  },

  modelsDialog: {
    title: 'Modelle auf diesem Gerät',
    empty: 'Auf diesem Gerät ist kein Modell.',
    stored: (date) => `heruntergeladen am ${date}`,
    delete: (name) => `${name} löschen`,
    deleted: (name) => `${name} ist gelöscht.`,
    licence: (name) => `Lizenz ${name}`,
  },

  helpDialog: {
    title: 'Tastenkürzel',
    translateNow: 'Sofort übersetzen',
    help: 'Diese Liste',
    inTranslation: 'In der Übersetzung',
    words: 'Voriges oder nächstes Wort mit seiner Herkunft',
    sentences: 'Voriger oder nächster Satz',
    alternatives: 'Andere Übersetzungen des Satzes',
    leave: 'Schließen oder zurück zum Original',
  },

  update: 'Eine neue Fassung dieser Seite ist bereit.',
  reload: 'Neu laden',
};
