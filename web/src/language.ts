// The language of the interface: choosing it, putting it on the page, and numbers and names in it.
import { byId } from './dom.js';
import { settings } from './settings.js';
import { de } from './strings/de.js';
import { en, type Strings } from './strings/en.js';

const languages = { en, de };

const listeners: (() => void)[] = [];
let current = document.documentElement.lang as keyof typeof languages; // boot.js sees to that

/** What the page says, in the language that is chosen now. */
export const strings = (): Strings => languages[current];

/** The interface's language. */
export const interfaceLanguage = (): 'en' | 'de' => current;

/** Calls back at once, and again when another language is chosen. */
export function inEveryLanguage(render: () => void): void {
  listeners.push(render);
  render();
}

/** Lets the visitor choose, and puts the words on the parts of the page that stand in index.html. */
export function startLanguage(): void {
  const choice = byId('interface', HTMLSelectElement);
  choice.value = current;
  choice.addEventListener('change', () => {
    current = choice.value as typeof current;
    settings.set('language', current);
    document.documentElement.lang = current;
    for (const render of listeners) render();
  });
  inEveryLanguage(labelPage);
}

function labelPage(): void {
  const words = strings() as unknown as Record<string, string>;
  for (const element of document.querySelectorAll<HTMLElement>('[data-text]')) {
    element.textContent = words[element.dataset.text ?? ''] ?? '';
  }
  for (const element of document.querySelectorAll<HTMLElement>('[data-label]')) {
    const label = words[element.dataset.label ?? ''] ?? '';
    element.setAttribute('aria-label', label);
    if (element instanceof HTMLButtonElement) element.title = label;
  }
  byId('source', HTMLTextAreaElement).placeholder = strings().placeholder;
}

/** A number as the reader writes it. */
export const number = (value: number, options?: Intl.NumberFormatOptions): string =>
  new Intl.NumberFormat(current, options).format(value);

export const percent = (share: number): string => number(Math.floor(share * 100) / 100, { style: 'percent' });

/** Bytes in the units in which downloads are usually given. */
export function bytes(count: number): string {
  const [unit, size, digits] =
    count >= 1e6 ? (['megabyte', 1e6, 1] as const) : (['kilobyte', 1e3, 0] as const);
  return number(count / size, {
    style: 'unit',
    unit,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

export const date = (value: Date | number): string =>
  new Intl.DateTimeFormat(current, { dateStyle: 'medium', timeStyle: 'short' }).format(value);

/** A pair of languages, such as "English → German". */
export const pairName = (source: string, target: string): string =>
  `${languageName(source)} → ${languageName(target)}`;

/** The name of a language, such as "German" for `de`. */
export function languageName(tag: string): string {
  try {
    return new Intl.DisplayNames([current], { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
