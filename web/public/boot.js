// Before the first paint: the theme and the language that were chosen earlier, so that nothing flashes.
{
  const root = document.documentElement;
  let theme, language;
  try {
    ({ 'octavo.theme': theme, 'octavo.language': language } = localStorage);
  } catch {
    // It may be forbidden.
  }
  if (theme) root.dataset.theme = theme;
  root.lang = (language ?? navigator.language).startsWith('de') ? 'de' : 'en';
}
