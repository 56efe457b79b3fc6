// What the page remembers. Storage may be forbidden or full: then it forgets.
const prefix = 'octavo.';

const memory = (storage: () => Storage) => ({
  get(key: string): string | undefined {
    try {
      return storage().getItem(prefix + key) ?? undefined;
    } catch {
      return undefined;
    }
  },

  /** Returns whether it will be remembered. */
  set(key: string, value: string | undefined): boolean {
    try {
      if (value === undefined) storage().removeItem(prefix + key);
      else storage().setItem(prefix + key, value);
      return true;
    } catch {
      return false;
    }
  },
});

/** Between visits. */
export const settings = memory(() => localStorage);

/** As long as the tab is open, reloads included. */
export const ofThisTab = memory(() => sessionStorage);
