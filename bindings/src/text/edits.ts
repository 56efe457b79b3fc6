// Replacements of passages in a text, and where everything else goes by them.

/** A passage by UTF-16 offsets: from `start` up to, not including, `end`. */
export type Span = [start: number, end: number];

/** Replaces `start` … `end` of a text by another text; an insertion if both are equal. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** A text after its edits. */
export interface Edited {
  text: string;
  /** Where the new text of each edit stands, in the order of `edits`. */
  places: Span[];
  /** The edits that lead back. */
  inverse: Edit[];
}

/** Carries out edits that are sorted by place and do not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): Edited {
  const places: Span[] = [];
  const inverse: Edit[] = [];
  let result = '';
  let done = 0;
  for (const { start, end, text: replacement } of edits) {
    result += text.slice(done, start);
    const place: Span = [result.length, result.length + replacement.length];
    places.push(place);
    inverse.push({ start: place[0], end: place[1], text: text.slice(start, end) });
    result += replacement;
    done = end;
  }
  return { text: result + text.slice(done), places, inverse };
}

/**
 * Where passages of the old text are in the new one. A passage that an edit cuts takes in the whole new text,
 * for nothing is known about the parts of a replacement.
 */
export function moveSpans(spans: readonly Span[], edits: readonly Edit[]): Span[] {
  return spans.map(([start, end]) => {
    const moved: Span = [move(start, edits, 'start'), move(end, edits, 'end')];
    return moved[0] <= moved[1] ? moved : [moved[1], moved[1]];
  });
}

function move(offset: number, edits: readonly Edit[], side: 'start' | 'end'): number {
  let shift = 0;
  for (const edit of edits) {
    const inside = side === 'start' ? offset < edit.end : offset <= edit.start;
    if (inside) return side === 'start' && offset > edit.start ? edit.start + shift : offset + shift;
    const longer = edit.text.length - (edit.end - edit.start);
    if (side === 'end' && offset < edit.end) return edit.end + shift + longer;
    shift += longer;
  }
  return offset + shift;
}
