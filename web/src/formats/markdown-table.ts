// Tables of Markdown: cells are translated, and columns that were aligned are aligned again.
import type { Job, Setting } from './markdown-text.js';
import { inlineJob } from './markdown-text.js';

/** A row: what begins and ends its line, and its cells with the bars between them. */
export interface Row {
  prefix: string;
  parts: (Job | string)[];
  source: string;
  end: string;
}

const rule = /^[ \t]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/;
const bar = /\|(?<=(?<!\\)(?:\\\\)*\|)/;

/** The cells of a row with the blanks around them. A bar divides even code, unless it is escaped. */
const cellsOf = (row: string) =>
  row
    .trim()
    .replace(/^\|/, '')
    .replace(/\|(?<=(?<!\\)(?:\\\\)*\|)$/, '')
    .split(bar);

/** Whether a line is the head of a table, by the line after it. */
export function isTableHead(row: string, next: string | undefined): boolean {
  const below = next?.replace(/^[ \t>]*/, '') ?? '';
  if (!rule.test(below) || !(below.includes('|') || row.includes('|'))) return false;
  return cellsOf(row).length === cellsOf(below).length;
}

/** Takes a line of a table apart. */
export function rowOf(line: { text: string; prefix: string; end: string }, setting: Setting): Row {
  const { text, prefix, end } = line;
  const row: Row = { prefix, parts: [], source: text, end };
  if (rule.test(text)) return { ...row, parts: [text] };
  let done = 0;
  let start = 0;
  for (const cell of text.split(bar)) {
    const source = cell.trim();
    const at = start + cell.indexOf(source);
    start += cell.length + 1;
    if (!source) continue;
    row.parts.push(text.slice(done, at), inlineJob(source, source.replace(/\\\|/g, '|'), setting));
    done = at + source.length;
  }
  row.parts.push(text.slice(done));
  return row;
}

/** Writes the rows of a table, given what became of each; aligned, if the bars of the source are below each other. */
export function writeTable(rows: readonly Row[], lines: readonly string[]): string {
  const same = rows.every(({ source }, i) => source === lines[i]);
  const bars = (line: string) => Array.from(line.matchAll(new RegExp(bar, 'g')), ({ index }) => index).join();
  const isAligned = rows.every(
    ({ source }) => source.startsWith('|') && bars(source) === bars(rows[0]?.source ?? ''),
  );
  const written = isAligned && !same ? aligned(lines) : lines;
  return rows.map(({ prefix, end }, i) => prefix + (written[i] ?? '') + end).join('');
}

function aligned(lines: readonly string[]): string[] {
  const table = lines.map((line) => cellsOf(line).map((cell) => cell.trim()));
  const lengthOf = (text: string) => Array.from(text).length;
  const isRule = (row: readonly string[]) => row.every((cell) => /^:?-+:?$/.test(cell));
  const widths: number[] = [];
  for (const row of table) {
    const least = isRule(row) ? () => 3 : lengthOf;
    row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 3, least(cell))));
  }
  const isRight = (table.find(isRule) ?? []).map((cell) => cell.endsWith(':') && !cell.startsWith(':'));
  return table.map((row) => {
    const rules = isRule(row);
    const cells = row.map((cell, i) => {
      const width = widths[i] ?? 3;
      if (rules) return (cell[0] ?? '') + '-'.repeat(width - 2) + cell.slice(-1);
      const gap = ' '.repeat(width - lengthOf(cell));
      return isRight[i] ? gap + cell : cell + gap;
    });
    return `| ${cells.join(' | ')} |`;
  });
}
