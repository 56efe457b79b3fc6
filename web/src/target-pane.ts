// The right-hand page: sentences that appear as they are finished, and stay as they are as long as their source does.
import type { TranslatedSentence } from 'octavo';
import { byId, make } from './dom.js';
import { Marker, type Passage, characterAt, offsetAt } from './highlight.js';
import { inEveryLanguage, strings } from './language.js';

// Below this mean probability of its words a sentence is marked.
const unsureBelow = 0.45;

/** A sentence on the page. */
export interface Entry {
  /** The sentence of the original. */
  readonly original: string;
  /** Where that stands. */
  readonly source: Passage;
  /** What is shown: the translation, or the one that was chosen instead. */
  readonly text: string;
  /** Words of `text` with where they come from, by offsets in `text` and in the whole original. */
  readonly links: readonly { readonly source: Passage; readonly target: Passage; readonly weight: number }[];
}

interface Shown extends Entry {
  readonly gap: Text;
  readonly element: HTMLElement;
  readonly words: Text;
}

export class TargetPane {
  readonly element = byId('output');
  readonly #tail = document.createTextNode('');
  readonly #marker = new Marker('target-words');
  readonly #choices = new Map<string, string>();
  #shown: Shown[] = [];
  #original = '';
  #count = 0;
  #lit: HTMLElement | undefined;
  #current = 0;
  /** The pointer or the focus is at this place of a sentence; undefined when it has left. */
  onPoint: (place: { index: number; offset: number | undefined } | undefined) => void = () => undefined;
  /** The reader wants to see other translations of a sentence. */
  onOpen: (index: number, offset: number | undefined) => void = () => undefined;

  constructor() {
    const { element } = this;
    element.append(this.#tail);
    element.addEventListener('pointermove', ({ clientX, clientY, target, pointerType }) => {
      if (pointerType === 'mouse') this.onPoint(this.#placeAt(target, clientX, clientY));
    });
    element.addEventListener('pointerleave', () => {
      this.onPoint(undefined);
    });
    element.addEventListener('click', ({ clientX, clientY, target }) => {
      if (getSelection()?.isCollapsed === false) return; // the reader selects text
      const place = this.#placeAt(target, clientX, clientY);
      if (!place) return;
      this.#rove(place.index);
      this.onPoint(place);
      this.onOpen(place.index, place.offset);
    });
    element.addEventListener('focusin', ({ target }) => {
      const index = this.#indexOf(target);
      if (index < 0) return;
      this.#rove(index);
      if ((target as HTMLElement).matches(':focus-visible')) this.onPoint({ index, offset: undefined });
    });
    element.addEventListener('focusout', () => {
      this.onPoint(undefined);
    });
    inEveryLanguage(() => {
      this.#shown.forEach(({ element: sentence }) => {
        if (sentence.classList.contains('unsure')) sentence.title = strings().unsureSentence;
      });
    });
  }

  get entries(): readonly Entry[] {
    return this.#shown;
  }

  /** Everything that is shown, as text. */
  get text(): string {
    return this.element.textContent;
  }

  get hasUnsure(): boolean {
    return this.#shown.some(({ element }) => element.classList.contains('unsure'));
  }

  /** A translation of this text begins. What is shown stays until something else takes its place. */
  begin(original: string): void {
    this.#original = original;
    this.#count = 0;
  }

  /** The next sentence of it is there. Returns whether the page had it already. */
  add(sentence: TranslatedSentence): boolean {
    const { source, target, alignment = [], confidence = 1 } = sentence;
    const index = this.#count++;
    const original = this.#original.slice(source.start, source.end);
    const choice = this.#choices.get(original);
    const text = choice ?? sentence.text;
    const known = this.#shown[index];
    const same = known?.original === original && known.text === text;
    const parts = known ?? this.#makeParts();
    const gap = this.#original.slice(this.#shown[index - 1]?.source.end ?? 0, source.start);
    if (parts.gap.data !== gap) parts.gap.data = gap;
    if (parts.words.data !== text) parts.words.data = text;
    const unsure = confidence < unsureBelow && choice === undefined;
    parts.element.classList.toggle('unsure', unsure);
    parts.element.title = unsure ? strings().unsureSentence : '';
    this.#shown[index] = {
      ...parts,
      original,
      source,
      text,
      links: choice === undefined ? alignment.map((link) => relative(link, target.start)) : [],
    };
    return same;
  }

  /** That was the last one. */
  finish(): void {
    for (const { gap, element } of this.#shown.splice(this.#count)) {
      gap.remove();
      element.remove();
    }
    const last = this.#shown.at(-1);
    const tail = this.#original.slice(last?.source.end ?? 0);
    if (this.#tail.data !== tail) this.#tail.data = tail;
    this.#rove(Math.min(this.#current, this.#shown.length - 1));
  }

  /** Shows another text instead of sentences: a translated document. */
  showDocument(text: string): void {
    this.begin('');
    this.finish();
    this.#tail.data = text;
  }

  /** Shows another translation of a sentence, from now on wherever it occurs. */
  choose(index: number, text: string): void {
    const entry = this.#shown[index];
    if (!entry) return;
    this.#choices.set(entry.original, text);
    entry.words.data = text;
    entry.element.classList.remove('unsure');
    entry.element.title = '';
    this.#shown[index] = { ...entry, text, links: [] };
  }

  /** Colours a sentence, and words of it. */
  light(index: number | undefined, words: readonly Passage[] = []): void {
    const entry = index === undefined ? undefined : this.#shown[index];
    this.#lit?.classList.remove('lit');
    this.#lit = entry?.element;
    this.#lit?.classList.add('lit');
    this.#marker.clear();
    if (entry) this.#marker.mark(entry.words, words);
  }

  /** Where a passage of a sentence is on the screen. */
  rectOf(index: number, passage: Passage | undefined): DOMRect {
    const entry = this.#shown[index];
    const range = document.createRange();
    if (entry) range.selectNodeContents(entry.words);
    if (entry && passage) {
      range.setStart(entry.words, passage.start);
      range.setEnd(entry.words, passage.end);
    }
    return range.getClientRects()[0] ?? this.element.getBoundingClientRect();
  }

  /** The sentence that has the focus, or -1. */
  get focused(): number {
    return this.#indexOf(document.activeElement);
  }

  focus(index: number): boolean {
    const entry = this.#shown[index];
    entry?.element.focus();
    return entry !== undefined;
  }

  /** The sentence that an event of the page concerns. */
  #indexOf(target: EventTarget | null): number {
    return this.#shown.findIndex(({ element }) => element === target);
  }

  #makeParts(): Pick<Shown, 'gap' | 'element' | 'words'> {
    const gap = document.createTextNode('');
    const words = document.createTextNode('');
    const attributes = { class: 'sentence', role: 'button', tabindex: -1, 'aria-haspopup': 'menu' };
    const element = make('span', attributes, words);
    this.#tail.before(gap, element);
    this.#tail.data = ''; // is being translated, or stands before it
    return { gap, element, words };
  }

  #placeAt(target: EventTarget | null, x: number, y: number) {
    const index = this.#indexOf(target);
    if (index < 0) return undefined;
    const { words } = this.#shown[index] ?? {};
    const found = offsetAt(x, y);
    const offset = words && found?.node === words ? characterAt(words, found.offset, x, y) : undefined;
    return { index, offset };
  }

  /** One sentence at a time can be reached with Tab; the arrow keys lead to the others. */
  #rove(index: number): void {
    this.#shown[this.#current]?.element.setAttribute('tabindex', '-1');
    this.#current = Math.max(0, index);
    this.#shown[this.#current]?.element.setAttribute('tabindex', '0');
  }
}

const relative = (
  { source, target, weight }: { source: Passage; target: Passage; weight: number },
  start: number,
) => ({ source, target: { start: target.start - start, end: target.end - start }, weight });
