// Light, dark, or as the system has it.
import { byId } from './dom.js';
import { inEveryLanguage, strings } from './language.js';
import { settings } from './settings.js';

const themes = ['auto', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

// As in style.css: the browser's own bars take them.
const paper = { light: '#f4f0e8', dark: '#151310' };

export function startTheme(): void {
  const control = byId('theme', HTMLButtonElement);
  let theme: Theme = themes.find((name) => name === settings.get('theme')) ?? 'auto';

  const show = () => {
    const root = document.documentElement;
    if (theme === 'auto') delete root.dataset.theme;
    else root.dataset.theme = theme;
    control.querySelector('use')?.setAttribute('href', `#icon-${theme}`);
    control.title = strings().theme[theme];
    control.setAttribute('aria-label', control.title);
    for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
      meta.content = paper[theme === 'auto' ? (meta.media.includes('dark') ? 'dark' : 'light') : theme];
    }
  };

  control.addEventListener('click', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto';
    settings.set('theme', theme === 'auto' ? undefined : theme);
    show();
  });
  inEveryLanguage(show);
}
