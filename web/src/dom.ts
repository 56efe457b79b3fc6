// Small helpers around the DOM. Text only ever goes in as text, never as markup.

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** The one element of the page with this id. */
export function byId(id: string): HTMLElement;
export function byId<T extends HTMLElement>(id: string, type: new () => T): T;
export function byId(id: string, type = HTMLElement): HTMLElement {
  const element = document.getElementById(id);
  if (element instanceof type) return element;
  throw new Error(`The page has no #${id}.`);
}

/** Makes an element with attributes (`true` for one without a value) and children. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(key, value === true ? '' : String(value));
  }
  element.append(...children);
  return element;
}

const svg = 'http://www.w3.org/2000/svg';

/** One of the icons that index.html defines. */
export function icon(name: string): SVGSVGElement {
  const element = document.createElementNS(svg, 'svg');
  element.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(svg, 'use');
  use.setAttribute('href', `#icon-${name}`);
  element.append(use);
  return element;
}

/** A button that does something. */
export function button(
  label: string,
  action: () => void,
  { kind = 'quiet', symbol, hint }: { kind?: string; symbol?: string; hint?: string } = {},
): HTMLButtonElement {
  const element = make('button', { type: 'button', class: kind });
  if (symbol) element.append(icon(symbol));
  if (hint) {
    element.title = hint;
    element.setAttribute('aria-label', hint);
  }
  if (label) element.append(make('span', {}, label));
  element.addEventListener('click', action);
  return element;
}

/** A button that is only an icon; the hint says what it does. */
export const iconButton = (symbol: string, hint: string, action: () => void): HTMLButtonElement =>
  button('', action, { kind: 'quiet icon-only', symbol, hint });

/** Changes a text only if it is another one, so that nothing is laid out or read out for nothing. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
