// Before the first paint: the theme and the language that were chosen earlier, so that nothing flashes.
(() => {
  const root = document.documentElement;
  const read = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // storage may be forbidden
    }
  };
  const theme = read('octavo.theme');
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  const language = read('octavo.language') ?? navigator.language;
  root.lang = language.startsWith('de') ? 'de' : 'en';
})();
