// What the page remembers between visits. Storage may be forbidden or full: then it forgets.
const prefix = 'octavo.';

export const settings = {
  get(key: string): string | undefined {
    try {
      return localStorage.getItem(prefix + key) ?? undefined;
    } catch {
      return undefined;
    }
  },

  /** Returns whether it will be remembered. */
  set(key: string, value: string | undefined): boolean {
    try {
      if (value === undefined) localStorage.removeItem(prefix + key);
      else localStorage.setItem(prefix + key, value);
      return true;
    } catch {
      return false;
    }
  },
};
