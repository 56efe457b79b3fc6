// Colours of the page as numbers, so that text on a mixed colour can be made readable whatever the theme.

/** Red, green and blue, each 0 … 1. */
export type Colour = readonly [red: number, green: number, blue: number];

/** A colour between two, as far from the first as the share says. */
export const mix = (from: Colour, to: Colour, share: number): Colour => [
  from[0] + (to[0] - from[0]) * share,
  from[1] + (to[1] - from[1]) * share,
  from[2] + (to[2] - from[2]) * share,
];

/** The relative luminance, as WCAG defines it. */
export function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

/** Black or white, whichever stands out more; one of them always does by more than the 4.5 : 1 of WCAG AA. */
export const textOn = (colour: Colour): string => (luminance(colour) > 0.179 ? '#000' : '#fff');

export const css = (colour: Colour): string =>
  `rgb(${colour.map((part) => Math.round(part * 255)).join(' ')})`;

/** The value of a custom property that is a colour, as it is where the element stands. */
export function colourOf(element: HTMLElement, property: string): Colour {
  const probe = document.createElement('span');
  // Mixed with itself a colour is computed in sRGB, however the page has written it.
  probe.style.color = `color-mix(in srgb, var(${property}), var(${property}))`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+(?:e-\d+)?/g) ?? []).map(Number);
  return color.startsWith('color(') ? [red, green, blue] : [red / 255, green / 255, blue / 255];
}
