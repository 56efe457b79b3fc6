// The lines of a paragraph of Markdown: wrapped as in the source, and none that would begin something else.

/** A part of what is written. `fixed` is never broken; `soft` and `hard` end a line. */
export interface Atom {
  kind: 'text' | 'fixed' | 'soft' | 'hard';
  text: string;
}

export const isBreak = ({ kind }: Atom): boolean => kind === 'soft' || kind === 'hard';

// What would begin something else than text at the start of a line.
const blockStart =
  /^(?:[-+*](?=\s|$)|#{1,6}(?=\s|$)|>|[=-]+\s*$|(?:[-_*]\s*){3,}$|:(?=\s)|\[(?=[^\]]*\]:|[ xX]\] )|~{3}|\|)/;
const numberStart = /^(\d{1,9})([.)])(?=\s|$)/;
const htmlStart = /^<(?:[A-Za-z/!?])/;

/**
 * The lines of a paragraph. If the source's lines end with sentences they have stayed, since the translator keeps what is
 * between sentences; otherwise the paragraph was wrapped, and is again at the source's width.
 */
export function linesOfAtoms(atoms: readonly Atom[], source: string): string[] {
  const sourceLines = source.split('\n');
  const isWrapped = atoms.filter(isBreak).length < sourceLines.length - 1;
  const width = isWrapped ? sourceLines.reduce((most, line) => Math.max(most, line.length), 40) : Infinity;
  const lines: string[][] = [['']];
  const append = (text: string) => {
    const words = lines.at(-1) ?? [];
    words.push((words.pop() ?? '') + text);
  };
  for (const { kind, text } of atoms) {
    const [first = '', ...rest] = kind === 'text' ? text.split(' ') : [text];
    append(first);
    for (const word of rest) lines.at(-1)?.push(word);
    if (kind === 'hard' || (kind === 'soft' && !isWrapped)) lines.push(['']);
    else if (kind === 'soft') lines.at(-1)?.push('');
  }
  return lines.flatMap((words) => wrap(words.filter(Boolean), width)).map(escapeStart);
}

function wrap(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const fits = last !== undefined && last.length + 1 + word.length <= width;
    const isStart = blockStart.test(word) || numberStart.test(word) || htmlStart.test(word);
    if (last !== undefined && (fits || isStart)) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.length ? lines : [''];
}

const escapeStart = (line: string) => line.replace(numberStart, '$1\\$2').replace(blockStart, '\\$&');
