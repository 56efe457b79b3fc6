// Numbers keep their digits in a translation, though not their separators: 1,234.5 becomes 1.234,5.

/** A number in a text, with what is inside it: thousands, decimals, parts of a date or time. */
export interface NumberToken {
  start: number;
  end: number;
  /** Its sign, if it has one, and its digits. */
  digits: string;
  /** What it may mean: its parts, and its parts if a separator stands between thousands. */
  forms: readonly string[];
}

/** What differs between the numbers of two texts. */
export interface NumberDifferences {
  /** Numbers of the source that the target lacks. */
  missing: NumberToken[];
  /** Numbers of the target that the source lacks, or has less often. */
  extra: NumberToken[];
}

const number =
  /(?:(?<![^\s(])[-+−](?=\p{Nd})|(?<![^\s(])\.(?=\p{Nd}))?(?:(?<!\p{Nd})\p{Nd}{1,3}(?:[ \u00a0\u2009\u202f]\p{Nd}{3})+(?!\p{Nd})(?:[.,]\p{Nd}+)?|\p{Nd}+(?:[.,:/\-–'’]\p{Nd}+)*)/gu;
const clock = /(\d{1,2})(?:[:.](\d\d))?\s?p\.?\s?m\b/giu;

/** Finds the numbers of a text, except in the passages that are to be skipped. */
export function findNumbers(
  text: string,
  skip: readonly { start: number; end: number }[] = [],
): NumberToken[] {
  let masked = '';
  let done = 0;
  for (const { start, end } of skip) {
    masked += text.slice(done, start) + '\0'.repeat(end - start);
    done = end;
  }
  masked += text.slice(done);
  return Array.from(masked.matchAll(number), (match) => ({
    start: match.index,
    end: match.index + match[0].length,
    digits: signOf(match[0]) + match[0].replace(/\P{Nd}/gu, ''),
    forms: formsOf(match[0]),
  }));
}

const signOf = (written: string) => (/^[-+−]/.exec(written)?.[0] ?? '').replace('−', '-');

/** 1990 is not 19.90, but 1,990 may be 1990 or 1.990. */
function formsOf(written: string): string[] {
  const parts =
    signOf(written) +
    written
      .replace(/^\./, '0.')
      .replace(/^\P{Nd}/u, '')
      .replace(/\P{Nd}/gu, ' ');
  const merged = parts.replace(/(?<=^[-+]?)\p{Nd}{1,3}(?: \p{Nd}{3})+(?!\p{Nd})/u, (groups) =>
    groups.replaceAll(' ', ''),
  );
  return [parts, merged];
}

/** Compares the numbers of a source and a target; which signs separate their digits is up to the language. */
export function compareNumbers(
  source: { text: string; numbers: readonly NumberToken[] },
  target: { text: string; numbers: readonly NumberToken[] },
): NumberDifferences {
  let missing = [...source.numbers];
  const extra = [...target.numbers];
  const settle = (same: (a: NumberToken, b: NumberToken) => boolean) => {
    missing = missing.filter((a) => {
      const at = extra.findIndex((b) => same(a, b));
      if (at >= 0) extra.splice(at, 1);
      return at < 0;
    });
  };
  settle((a, b) => a.forms.some((form) => b.forms.includes(form)));
  // 3 pm is 15 Uhr.
  const afternoon = new Map(
    Array.from(source.text.matchAll(clock), ({ index, 1: hour = '', 2: minutes = '' }) => [
      index,
      String((Number(hour) % 12) + 12) + minutes,
    ]),
  );
  settle((a, b) => afternoon.get(a.start) === b.digits);
  // 10-20 is 10 bis 20, and the other way round.
  const parts = (tokens: NumberToken[]) =>
    tokens.flatMap(({ forms }) => forms.at(-1)?.split(' ') ?? []).sort();
  const left = parts(missing);
  if (left.length && left.join() === parts(extra).join()) return { missing: [], extra: [] };
  return { missing, extra };
}
