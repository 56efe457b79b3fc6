// The left-hand page: a text field, and behind it the same text once more, on which passages can be coloured.
import { byId, setText } from './dom.js';
import { Marker, type Passage, characterAt, isOn, offsetAt } from './highlight.js';
import { inEveryLanguage, number, strings } from './language.js';

export class SourcePane {
  readonly field = byId('source', HTMLTextAreaElement);
  readonly #mirror = document.createTextNode('');
  readonly #sentence = new Marker('source-sentence');
  readonly #words = new Marker('source-words');
  /** The text has changed, by the reader or by the page. */
  onChange: () => void = () => undefined;
  /** The pointer or the caret is at this place of the text; undefined when it has left. */
  onPoint: (offset: number | undefined) => void = () => undefined;

  constructor() {
    // The last character lets an empty line at the end have its height.
    byId('mirror').append(this.#mirror, '\u200b');
    const changed = () => {
      this.#reflect();
      this.onChange();
    };
    this.field.addEventListener('input', changed);
    this.field.addEventListener('pointermove', ({ clientX, clientY, pointerType }) => {
      if (pointerType === 'mouse') this.onPoint(this.#offsetAt(clientX, clientY));
    });
    this.field.addEventListener('pointerleave', () => {
      this.onPoint(undefined);
    });
    this.field.addEventListener('blur', () => {
      this.onPoint(undefined);
    });
    document.addEventListener('selectionchange', () => {
      const { field } = this;
      if (document.activeElement === field && !field.matches(':hover')) this.onPoint(field.selectionStart);
    });
    byId('clear').addEventListener('click', () => {
      this.field.focus();
      this.field.select();
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else lets the reader take it back
      document.execCommand('delete');
    });
    inEveryLanguage(() => {
      this.#count();
    });
    this.#reflect(); // browsers bring back what was written before a reload
  }

  get text(): string {
    return this.field.value;
  }

  set text(text: string) {
    this.field.value = text;
    this.#reflect();
    this.onChange();
  }

  /** Colours a sentence, and within it the words that belong to a word of the translation. */
  light(sentence: Passage | undefined, words: readonly Passage[] = []): void {
    this.#sentence.mark(this.#mirror, sentence ? [sentence] : []);
    this.#words.mark(this.#mirror, words);
  }

  #reflect(): void {
    this.light(undefined);
    this.#mirror.data = this.field.value;
    byId('clear').hidden = this.field.value === '' || this.field.readOnly;
    this.#count();
  }

  #count(): void {
    const { value } = this.field;
    // As readers count, where that is quick; who has written a book does not mind the combined emoji.
    const count = value.length < 5000 ? [...new Intl.Segmenter().segment(value)].length : value.length;
    setText(byId('count'), count > 0 ? strings().characters(count, number(count)) : '');
  }

  #offsetAt(x: number, y: number): number | undefined {
    const found = offsetAt(x, y);
    if (found?.node !== this.field) return undefined;
    const { offset } = found;
    if (!isOn(this.#mirror, { start: offset - 1, end: offset + 1 }, x, y)) return undefined;
    return characterAt(this.#mirror, offset, x, y);
  }
}
