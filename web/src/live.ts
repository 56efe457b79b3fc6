// Translates while the reader writes. What is under way for an older text is stopped; sentences that stay are not done again.
import type { TranslatedSentence } from 'octavo';
import { announce, toast } from './announce.js';
import { byId, setText } from './dom.js';
import { inEveryLanguage, strings } from './language.js';
import type { Session } from './session.js';
import type { SourcePane } from './source-pane.js';
import type { TargetPane } from './target-pane.js';

// A pause in typing; shorter than it takes to read a word.
const pause = 120;
// Better than the greedy search and still quick enough, since only sentences that have changed are translated.
const beam = 4;
// Work that takes no longer than this need not be shown.
const patience = 250;

/** A translation that has been finished. */
export interface Run {
  readonly text: string;
  readonly translation: string;
  /** The sentences that were really translated, rather than remembered. */
  readonly sentences: readonly string[];
  readonly milliseconds: number;
}

export class Live {
  readonly #session: Session;
  readonly #source: SourcePane;
  readonly #target: TargetPane;
  #stop = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #working = false;
  #isBusy = false;
  #waiting: ((complete: boolean) => void)[] = [];
  /** The translation of the text is complete. */
  onFinish: (run: Run) => void = () => undefined;
  #suspended = false;

  constructor(session: Session, source: SourcePane, target: TargetPane) {
    this.#session = session;
    this.#source = source;
    this.#target = target;
    source.onChange = () => {
      this.schedule();
    };
    session.addEventListener('change', () => {
      if (session.state.kind === 'checking' || session.state.kind === 'loading') this.stop();
      else if (session.state.kind !== 'downloading') this.translate();
    });
    inEveryLanguage(() => {
      this.#report();
    });
  }

  /** Nothing is translated while a document is open. */
  set suspended(suspended: boolean) {
    this.#suspended = suspended;
    this.stop();
    this.#settle(false);
  }

  /** Waits for the translation of the text as it is then; false if there will be none. */
  complete(): Promise<boolean> {
    return this.#isBusy ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(true);
  }

  /** Translates after a pause; an empty text is dealt with at once. */
  schedule(): void {
    this.stop();
    if (this.#suspended) return;
    this.#busy(true);
    if (this.#source.text.trim() === '') this.translate();
    else
      this.#timer = setTimeout(() => {
        this.translate();
      }, pause);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  /** Translates at once. */
  translate(): void {
    this.stop();
    if (this.#suspended) return;
    const stop = new AbortController();
    this.#stop = stop;
    void this.#run(this.#source.text, stop.signal);
  }

  async #run(text: string, signal: AbortSignal): Promise<void> {
    const { translator } = this.#session;
    const target = this.#target;
    this.#busy(true);
    if (text.trim() === '' || !translator) {
      target.begin('');
      this.#finish();
      return;
    }
    const slow = setTimeout(() => {
      if (!signal.aborted) this.#work(true);
    }, patience);
    target.begin(text);
    const start = performance.now();
    const sentences: string[] = [];
    const onSentence = (sentence: TranslatedSentence) => {
      if (signal.aborted) return;
      if (!target.add(sentence)) sentences.push(text.slice(sentence.source.start, sentence.source.end));
      this.#buttons();
    };
    try {
      await translator.translate(text, { beam, alignment: true, confidence: true, signal, onSentence });
      if (signal.aborted) return;
      const milliseconds = performance.now() - start;
      this.#finish();
      announce(strings().translated);
      this.onFinish({ text, translation: target.text, sentences, milliseconds });
    } catch {
      if (signal.aborted) return;
      this.#settle(false);
      toast(strings().failure, {
        label: strings().retry,
        run: () => {
          this.translate();
        },
      });
    } finally {
      clearTimeout(slow);
    }
  }

  #finish(): void {
    this.#target.finish();
    this.#buttons();
    this.#settle(true);
  }

  /** Nothing is under way any more. */
  #settle(complete: boolean): void {
    this.#work(false);
    for (const resolve of this.#waiting.splice(0)) resolve(complete);
  }

  #buttons(): void {
    const empty = this.#target.text === '';
    for (const id of ['copy', 'save']) byId(id, HTMLButtonElement).disabled = empty;
  }

  /** Tells screen readers to wait until everything is there. */
  #busy(busy: boolean): void {
    this.#isBusy = busy;
    this.#target.element.setAttribute('aria-busy', String(busy));
  }

  #work(working: boolean): void {
    this.#working = working;
    this.#busy(working);
    this.#report();
  }

  #report(): void {
    const unsure = this.#target.hasUnsure && !this.#suspended ? strings().unsure : '';
    this.#target.element.dataset.hint = strings().hint;
    setText(byId('work'), this.#working ? strings().working : unsure);
  }
}
