// Quotations and list items of Markdown: what stands before the text of a line.

/** Something that holds blocks: a quotation, or an item of a list, whose text is indented by so many columns. */
export type Container = { kind: 'quote' } | { kind: 'item'; indent: number };

/** A place in a line; a tab counts up to the next multiple of four columns. */
export interface Cursor {
  line: string;
  at: number;
  column: number;
}

/** A line across the page. */
export const rule = /^([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
// Bullets and numbers, footnotes, and the definitions of a definition list.
const marker = /^(?:[-+*]|\d{1,9}[.)]|:(?=[ \t])|\[\^[^\]\s]+\]:)(?=[ \t]|$)/;
const task = /^\[[ xX]\][ \t]+/;

/** How many columns of blanks follow. */
export function indentationAt({ line, at, column }: Cursor): number {
  let end = column;
  for (let i = at; line[i] === ' ' || line[i] === '\t'; ++i)
    end = line[i] === '\t' ? end + 4 - (end % 4) : end + 1;
  return end - column;
}

/** Skips blanks. A tab that reaches further is taken as a whole: what is cut off is layout in any case. */
function skip(cursor: Cursor, columns: number) {
  const end = cursor.column + columns;
  while (cursor.column < end && /[ \t]/.test(cursor.line.charAt(cursor.at))) {
    cursor.column += cursor.line[cursor.at] === '\t' ? 4 - (cursor.column % 4) : 1;
    cursor.at++;
  }
}

const isBlank = ({ line, at }: Cursor) => !line.slice(at).trim();

function skipQuote(cursor: Cursor): boolean {
  const indentation = indentationAt(cursor);
  if (indentation > 3 || !cursor.line.slice(cursor.at).trimStart().startsWith('>')) return false;
  skip(cursor, indentation);
  cursor.at++;
  cursor.column++;
  skip(cursor, 1);
  return true;
}

/** Skips what the open containers put before a line; returns how many of them go on. */
export function continueContainers(cursor: Cursor, containers: readonly Container[]): number {
  const ended = containers.findIndex((container) => {
    if (container.kind === 'quote') return !skipQuote(cursor);
    if (isBlank(cursor)) return false;
    if (indentationAt(cursor) < container.indent) return true;
    skip(cursor, container.indent);
    return false;
  });
  return ended < 0 ? containers.length : ended;
}

/** Skips the marks of containers that begin in a line, and returns these. */
export function openContainers(cursor: Cursor, inParagraph: boolean): Container[] {
  const added: Container[] = [];
  // As deep as nobody writes; each has to be looked for in every line that follows.
  while (added.length < 99) {
    const indentation = indentationAt(cursor);
    if (indentation > 3) return added;
    if (skipQuote(cursor)) {
      added.push({ kind: 'quote' });
      continue;
    }
    const rest = cursor.line.slice(
      cursor.at + (/^[ \t]*/.exec(cursor.line.slice(cursor.at))?.[0].length ?? 0),
    );
    const [mark] = marker.exec(rest) ?? [];
    if (!mark || rule.test(rest)) return added;
    const isEmpty = !rest.slice(mark.length).trim();
    // In the middle of a paragraph only a clear beginning of a list is one.
    if (inParagraph && !added.length && (isEmpty || /^(?!1[.)])\d/.test(mark))) return added;
    skip(cursor, indentation);
    cursor.at += mark.length;
    cursor.column += mark.length;
    const gap = indentationAt(cursor);
    const width = isEmpty || gap > 4 ? 1 : gap;
    skip(cursor, width);
    const indent = mark.startsWith('[^') ? 4 : indentation + mark.length + width;
    added.push({ kind: 'item', indent });
    const box = task.exec(cursor.line.slice(cursor.at))?.[0].length ?? 0;
    cursor.at += box;
    cursor.column += box;
    if (box) break;
  }
  return added;
}
