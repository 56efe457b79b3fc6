// Recent translations, in this browser only.
import { settings } from './settings.js';

/** A translation that was made earlier. */
export interface Remembered {
  readonly time: number;
  readonly source: string;
  readonly target: string;
  readonly text: string;
  readonly translation: string;
}

const mostEntries = 200;
// Of the few megabytes that a browser gives to a page.
const mostCharacters = 500_000;

const sizeOf = ({ text, translation }: Remembered) => text.length + translation.length;

/** As many of the entries, which are the newest first, as may be kept. */
function keepable(entries: readonly Remembered[]): Remembered[] {
  let room = mostCharacters;
  return entries.slice(0, mostEntries).filter((entry) => (room -= sizeOf(entry)) >= 0);
}

/** Keeps the entries; if even that is too much for the browser, half of them. */
function write(entries: readonly Remembered[]): void {
  const kept = keepable(entries);
  if (!settings.set('history', JSON.stringify(kept)) && kept.length > 1) {
    settings.set('history', JSON.stringify(kept.slice(0, Math.ceil(kept.length / 2))));
  }
}

export const history = {
  get enabled(): boolean {
    return settings.get('history.off') === undefined;
  },

  set enabled(on: boolean) {
    settings.set('history.off', on ? undefined : 'off');
  },

  /** The newest first. */
  list(): Remembered[] {
    try {
      return JSON.parse(settings.get('history') ?? '[]') as Remembered[];
    } catch {
      return [];
    }
  },

  /** Those that have all words of a query in them. */
  find(query: string): Remembered[] {
    const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    return this.list().filter(({ text, translation }) => {
      const all = `${text}\n${translation}`.toLocaleLowerCase();
      return words.every((word) => all.includes(word));
    });
  },

  /** Remembers a translation; one of which it is the continuation, or the beginning, is replaced. */
  add(entry: Remembered): void {
    if (!this.enabled || entry.text.trim() === '') return;
    const [latest, ...older] = this.list();
    const continued =
      latest?.target === entry.target &&
      (entry.text.startsWith(latest.text) || latest.text.startsWith(entry.text));
    const others = latest === undefined || continued ? older : [latest, ...older];
    const entries = [
      entry,
      ...others.filter(({ text, target }) => text !== entry.text || target !== entry.target),
    ];
    write(entries);
  },

  delete(time: number): void {
    write(this.list().filter((entry) => entry.time !== time));
  },

  clear(): void {
    settings.set('history', undefined);
  },
};
