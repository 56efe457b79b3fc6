// What the parts of the panel are made of, beside the page's elements.

/** An element of SVG with attributes and content. */
export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** A piece of the vocabulary as people read it: a point shows that a word goes on, the end mark has a name. */
export function pieceText(piece: string, end: string): string {
  if (piece === '</s>') return end;
  return piece.replace(/^(?=[\p{L}\p{N}])/u, '·').replace(/^▁(?=.)/u, '');
}
