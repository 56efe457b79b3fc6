// The two languages, as far as there are models for them.
import type { RegistryModel } from 'octavo';
import { toast } from './announce.js';
import { byId, make } from './dom.js';
import { inEveryLanguage, languageName, pairName, strings } from './language.js';
import { settings } from './settings.js';

const unique = <T>(items: T[]) => [...new Set(items)];

export class Languages {
  readonly #models: readonly RegistryModel[];
  readonly #from = byId('from', HTMLSelectElement);
  readonly #to = byId('to', HTMLSelectElement);
  readonly #swap = byId('swap', HTMLButtonElement);
  /** Another pair was chosen. */
  onChange: () => void = () => undefined;
  /** The languages were swapped: what was the translation becomes the original. */
  onSwap: () => void = () => undefined;

  constructor(
    models: readonly RegistryModel[],
    wanted: { from: string | undefined; to: string | undefined },
  ) {
    this.#models = models;
    const sources = unique(models.map(({ source }) => source));
    const [from = '', to = ''] = this.#first(wanted) ?? [];
    fill(this.#from, sources, from);
    this.#fillTargets(to);
    this.#from.addEventListener('change', () => {
      this.#fillTargets(this.target);
      this.#changed();
    });
    this.#to.addEventListener('change', () => {
      this.#changed();
    });
    this.#swap.addEventListener('click', () => {
      this.swap();
    });
    inEveryLanguage(() => {
      for (const option of document.querySelectorAll<HTMLOptionElement>('select.head option'))
        option.textContent = languageName(option.value);
      this.#showSwap();
    });
  }

  get source(): string {
    return this.#from.value;
  }

  get target(): string {
    return this.#to.value;
  }

  /** Chooses a pair, if there is a model for it. */
  choose(from: string, to: string): boolean {
    if (!this.#has(from, to)) return false;
    if (from === this.source && to === this.target) return true;
    this.#from.value = from;
    this.#fillTargets(to);
    this.#changed();
    return true;
  }

  /** Turns the pair round, or says why that is not possible. */
  swap(): void {
    const { source, target } = this;
    if (this.#has(target, source)) {
      this.onSwap();
      this.choose(target, source);
    } else toast(strings().unavailable(pairName(target, source)));
  }

  #has(from: string, to: string): boolean {
    return this.#models.some(({ source, target }) => source === from && target === to);
  }

  /** The pair that the address asks for, or that was used last, or any. */
  #first({ from, to }: { from: string | undefined; to: string | undefined }) {
    if (to !== undefined) {
      const fitting = this.#models.find(
        ({ source, target }) => matches(to, target) && (from === undefined || matches(from, source)),
      );
      if (fitting) return [fitting.source, fitting.target];
      toast(strings().unavailable(pairName(from ?? this.#models[0]?.source ?? 'en', to)));
    }
    const [source = '', target = ''] = (settings.get('pair') ?? '').split(' ');
    if (this.#has(source, target)) return [source, target];
    const [first] = this.#models;
    return first && [first.source, first.target];
  }

  #fillTargets(wanted: string): void {
    const targets = this.#models.filter(({ source }) => source === this.source).map(({ target }) => target);
    fill(this.#to, unique(targets), wanted);
  }

  #changed(): void {
    settings.set('pair', `${this.source} ${this.target}`);
    this.#showSwap();
    this.onChange();
  }

  #showSwap(): void {
    const { source, target } = this;
    const possible = this.#has(target, source);
    const label = possible ? strings().swap : strings().unavailable(pairName(target, source));
    this.#swap.setAttribute('aria-disabled', String(!possible));
    this.#swap.setAttribute('aria-label', label);
    this.#swap.title = label;
  }
}

/** `de-AT` is served by `de`. */
const matches = (wanted: string, offered: string) =>
  `${wanted}-`.toLowerCase().startsWith(`${offered}-`.toLowerCase());

function fill(select: HTMLSelectElement, tags: string[], chosen: string): void {
  select.replaceChildren(...tags.map((tag) => make('option', { value: tag }, languageName(tag))));
  select.value = tags.includes(chosen) ? chosen : (tags[0] ?? '');
  // A choice of one is no choice; it still says which language it is.
  select.classList.toggle('single', tags.length < 2);
}
