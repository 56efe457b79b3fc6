// The data at the head of a Markdown file: only titles and descriptions in it are for people.
import type { Job } from './markdown-text.js';
import { plainJob } from './markdown-text.js';

const yaml = /^---[ \t]*(?:\r\n|\n|\r)(?:[^\r\n]*(?:\r\n|\n|\r(?!\n)))*?(?:---|\.\.\.)[ \t]*(?=[\r\n]|$)/;
const toml = /^\+\+\+[ \t]*(?:\r\n|\n|\r)(?:[^\r\n]*(?:\r\n|\n|\r(?!\n)))*?\+\+\+[ \t]*(?=[\r\n]|$)/;
const value =
  /^((?:title|subtitle|description|summary|excerpt|tagline|caption)[ \t]*[:=][ \t]*)(?:"((?:[^"\\\r\n]|\\["\\])*)"|'([^'\r\n]*)'|([\p{L}\p{N}](?:.*[^ \t\r\n])?))[ \t]*$/gimu;

/** The parts of a text's front matter and how long it is; no parts if it has none. */
export function frontMatterOf(text: string): { parts: (Job | string)[]; length: number } {
  const data =
    (/^---[ \t]*(?:\r\n|\n|\r)[ \t]*(?:[\w"'#-]|---)/.test(text) ? yaml : toml).exec(text)?.[0] ?? '';
  const parts: (Job | string)[] = [];
  let done = 0;
  for (const match of data.matchAll(value)) {
    const [, key = '', double, single, bare] = match;
    const source = double?.replace(/\\(["\\])/g, '$1') ?? single ?? bare ?? '';
    // A comment, a list, a text over several lines or whatever else YAML knows stays as it is.
    if (!/\p{L}/u.test(source) || (bare !== undefined && (/ #|: |[\]}]$/.test(bare) || key.includes('='))))
      continue;
    const start = match.index + key.length + (bare === undefined ? 1 : 0);
    const length = (double ?? single ?? bare ?? '').length;
    const quoted = (text: string) => text.replace(/["\\]/g, '\\$&');
    const write = (translation: string) => {
      if (double !== undefined) return quoted(translation);
      if (single !== undefined) return translation.replace(/'/g, '’');
      return /^[\p{L}\p{N}]/u.test(translation) && !/ #|:(?: |$)/.test(translation)
        ? translation
        : `"${quoted(translation)}"`;
    };
    parts.push(data.slice(done, start), plainJob(data.slice(start, start + length), source, write));
    done = start + length;
  }
  parts.push(data.slice(done));
  return { parts, length: data.length };
}
