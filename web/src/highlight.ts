// Colours passages of the page without touching its elements (CSS Custom Highlight API). Where that is missing, nothing is coloured.

/** A passage by UTF-16 offsets. */
export interface Passage {
  readonly start: number;
  readonly end: number;
}

/** A colour of style.css that can be laid over passages. */
export class Marker {
  readonly #highlight = 'highlights' in CSS ? new Highlight() : undefined;

  constructor(name: string) {
    if (this.#highlight) CSS.highlights.set(name, this.#highlight);
  }

  /** Marks these passages of a text node, and nothing else. */
  mark(node: Text, passages: readonly Passage[]): void {
    this.clear();
    for (const { start, end } of passages) {
      if (start >= end || end > node.length) continue; // of a text that has changed meanwhile
      const range = new StaticRange({
        startContainer: node,
        startOffset: start,
        endContainer: node,
        endOffset: end,
      });
      this.#highlight?.add(range);
    }
  }

  clear(): void {
    this.#highlight?.clear();
  }
}

/** Where in a node's text (or in a text field) a point of the window lies; undefined beside the text. */
export function offsetAt(x: number, y: number): { node: Node; offset: number } | undefined {
  if (!('caretPositionFromPoint' in document)) return undefined; // in older browsers
  const position = document.caretPositionFromPoint(x, y);
  return position ? { node: position.offsetNode, offset: position.offset } : undefined;
}

/** The character at a point; `offset` is the place between characters that is nearest to it. */
export const characterAt = (node: Text, offset: number, x: number, y: number): number =>
  offset > 0 && isOn(node, { start: offset - 1, end: offset }, x, y, 0) ? offset - 1 : offset;

/** Whether a point lies on a passage of a text node, give or take a little. */
export function isOn(node: Text, { start, end }: Passage, x: number, y: number, slack = 4): boolean {
  const range = document.createRange();
  range.setStart(node, Math.max(0, start));
  range.setEnd(node, Math.min(node.length, end));
  return Array.from(range.getClientRects()).some(
    ({ left, right, top, bottom }) =>
      x >= left - slack && x <= right + slack && y >= top - slack && y <= bottom + slack,
  );
}
