// A document: shown on the left, translated as a whole with its structure kept, and saved under a new name.
import { toast, toastReload } from './announce.js';
import { button, byId, iconButton, make, setText } from './dom.js';
import { saveFile, translatedName } from './files.js';
import type { Format } from './formats/index.js';
import { bytes, inEveryLanguage, percent, strings } from './language.js';
import type { Live } from './live.js';
import type { Session } from './session.js';
import type { SourcePane } from './source-pane.js';
import type { TargetPane } from './target-pane.js';

const largest = 20_000_000;
// More than this of a document is not put on the page: laying it out would take longer than translating it.
const preview = 50_000;

/** Loaded with the first document. */
const formats = () => import('./formats/index.js');

interface Document {
  readonly name: string;
  readonly format: Format;
  readonly text: string;
  done: number;
  result: string | undefined;
  /** The name for the result: by the time it is saved, other languages may have been chosen. */
  resultName: string;
}

const shortened = (text: string) =>
  text.length > preview ? `${text.slice(0, preview)}\n${strings().document.shortened}` : text;

export class Documents {
  readonly #session: Session;
  readonly #source: SourcePane;
  readonly #target: TargetPane;
  readonly #live: Live;
  readonly #strip = byId('document');
  readonly #bar = make('progress', { max: 1 });
  readonly #note = make('span', { class: 'muted' });
  #open: Document | undefined;
  #before = '';
  /** The file that the text came from, and what a text field does not keep of it. */
  #origin: { name: string; mark: string; lineEnd: string } | undefined;
  #stop = new AbortController();

  constructor(session: Session, source: SourcePane, target: TargetPane, live: Live) {
    this.#session = session;
    this.#source = source;
    this.#target = target;
    this.#live = live;
    // A text that was begun anew is no longer that of the file.
    source.field.addEventListener('input', () => {
      if (source.text === '') this.#origin = undefined;
    });
    session.addEventListener('change', () => {
      if (this.#open) void this.#translate(this.#open);
    });
    inEveryLanguage(() => {
      this.#render();
    });
  }

  /** Takes a file. Plain text becomes the text to translate; anything else is a document. */
  async take(file: File): Promise<void> {
    if (file.size > largest) {
      toast(strings().document.tooLarge(file.name, bytes(largest)));
      return;
    }
    const loaded = await formats().catch(() => undefined);
    if (!loaded) {
      // Most likely the server has a new version of the page by now, and no longer this part of the old one.
      toastReload(strings().document.failed(file.name));
      return;
    }
    let text: string;
    try {
      text = loaded.decodeText(new Uint8Array(await file.arrayBuffer()));
    } catch {
      toast(strings().document.notText(file.name));
      return;
    }
    const format = loaded.detectFormat(file.name, text);
    this.close();
    if (format === 'text' && text.length <= preview) {
      const [, mark = '', content = ''] = /^(\uFEFF?)([^]*)$/.exec(text) ?? [];
      this.#source.text = content;
      this.#source.field.focus();
      this.#origin = { name: file.name, mark, lineEnd: /\r\n?|\n/.exec(content)?.[0] ?? '\n' };
      return;
    }
    this.#before = this.#source.text;
    const opened: Document = { name: file.name, format, text, done: 0, result: undefined, resultName: '' };
    this.#open = opened;
    this.#live.suspended = true;
    this.#source.field.readOnly = true;
    this.#source.text = shortened(text);
    this.#target.showDocument('');
    this.#render();
    await this.#translate(opened);
  }

  /** Puts the document away; what was written before comes back. */
  close(): void {
    this.#origin = undefined;
    if (!this.#open) return;
    this.#stop.abort();
    this.#open = undefined;
    this.#live.suspended = false;
    this.#source.field.readOnly = false;
    this.#target.showDocument('');
    this.#source.text = this.#before;
    this.#render();
  }

  /** The whole translation: of the document, of which the page shows only the beginning, or of the text, once it is there. */
  async translation(): Promise<string> {
    if (this.#open) return this.#open.result ?? '';
    return (await this.#live.complete()) ? this.#target.text : '';
  }

  /** What the reader has written, even while a document is in its place. */
  get draft(): string {
    return this.#open ? this.#before : this.#source.text;
  }

  /** Saves the translation, under the name of the file that the original came from. */
  async save(): Promise<void> {
    const translation = await this.translation();
    if (!translation) return;
    const { name, mark, lineEnd } = this.#origin ?? { name: 'octavo.txt', mark: '', lineEnd: '\n' };
    if (this.#open) saveFile(this.#open.resultName, translation);
    else saveFile(this.#translatedName(name), mark + translation.replaceAll('\n', lineEnd));
  }

  #translatedName(name: string): string {
    return translatedName(name, this.#source.field.lang, this.#target.element.lang);
  }

  /** Translates the document; one whose translator is gone waits for the next. */
  async #translate(document: Document): Promise<void> {
    this.#stop.abort();
    const { translator } = this.#session;
    if (!translator) {
      this.#progress();
      return;
    }
    const stop = new AbortController();
    this.#stop = stop;
    document.done = 0;
    document.result = undefined;
    this.#render();
    try {
      const { format, text } = document;
      const { translateDocument } = await formats();
      const result = await translateDocument(translator, format, text, {
        signal: stop.signal,
        onProgress: (done, total) => {
          if (stop.signal.aborted) return;
          document.done = total > 0 ? done / total : 1;
          this.#progress();
        },
      });
      if (stop.signal.aborted) return;
      document.result = result;
      document.resultName = this.#translatedName(document.name);
      this.#target.showDocument(shortened(result));
      this.#render();
    } catch {
      if (stop.signal.aborted) return;
      toast(strings().document.failed(document.name));
      this.close();
    }
  }

  #status(): string {
    const words = strings().document;
    if (!this.#open) return '';
    if (this.#open.result !== undefined) return words.ready;
    return this.#session.translator ? words.translating(percent(this.#open.done)) : words.waiting;
  }

  #progress(): void {
    this.#bar.value = this.#open?.done ?? 0;
    setText(this.#note, this.#status());
  }

  #render(): void {
    const opened = this.#open;
    this.#strip.hidden = !opened;
    byId('book').classList.toggle('document', opened !== undefined);
    const ready = opened?.result !== undefined;
    if (opened) for (const id of ['copy', 'save']) byId(id, HTMLButtonElement).disabled = !ready;
    if (!opened) return;
    const words = strings().document;
    const save = () => void this.save();
    const close = () => {
      this.close();
      this.#source.field.focus();
    };
    const buttons = make('span', { class: 'buttons' });
    if (ready) buttons.append(button(strings().save, save, { kind: 'primary', symbol: 'save' }));
    buttons.append(iconButton('clear', strings().close, close));
    this.#bar.ariaLabel = words.translating('');
    this.#strip.replaceChildren(
      make(
        'span',
        { class: 'what' },
        make('strong', { dir: 'auto' }, opened.name),
        ` ${words.kinds[opened.format]} · ${bytes(opened.text.length)}`,
      ),
      this.#note,
      ...(ready ? [] : [this.#bar]),
      buttons,
    );
    this.#progress();
  }
}
