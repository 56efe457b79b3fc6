// What was being written survives a reload of its tab, and nothing longer.
const key = 'octavo.draft';

/** The text that this tab had before it was reloaded. */
export function takeDraft(): string {
  try {
    return sessionStorage.getItem(key) ?? '';
  } catch {
    return ''; // storage may be forbidden
  }
}

/** Keeps what the tab has when it goes away. */
export function keepDraft(text: () => string): void {
  addEventListener('pagehide', () => {
    try {
      sessionStorage.setItem(key, text());
    } catch {
      // No room: then it is lost, as everywhere else.
    }
  });
}
