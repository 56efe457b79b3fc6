// Numbers keep their digits in a translation, though not their separators: 1,234.5 becomes 1.234,5.

/** A number in a text, with what is inside it: thousands, decimals, parts of a date or time. */
export interface NumberToken {
  start: number;
  end: number;
  /** Its digits only. */
  digits: string;
}

/** What differs between the numbers of two texts. */
export interface NumberDifferences {
  /** Numbers of the source that the target lacks. */
  missing: NumberToken[];
  /** Numbers of the target that the source lacks, or has less often. */
  extra: NumberToken[];
}

const number =
  /(?<!\p{Nd})\p{Nd}{1,3}(?:[ \u00a0\u2009\u202f]\p{Nd}{3})+(?!\p{Nd})(?:[.,]\p{Nd}+)?|\p{Nd}+(?:[.,:/\-–'’]\p{Nd}+)*/gu;
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
    digits: match[0].replace(/\P{Nd}/gu, ''),
  }));
}

/** Compares the numbers of a source and a target by their digits. */
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
  settle((a, b) => a.digits === b.digits);
  // 3 pm is 15 Uhr.
  const afternoon = new Map(
    Array.from(source.text.matchAll(clock), ({ index, 1: hour = '', 2: minutes = '' }) => [
      index,
      String((Number(hour) % 12) + 12) + minutes,
    ]),
  );
  settle((a, b) => afternoon.get(a.start) === b.digits);
  // 10-20 is 10 bis 20, and the other way round.
  const runs = (text: string, tokens: NumberToken[]) =>
    tokens.flatMap((token) => text.slice(token.start, token.end).match(/\p{Nd}+/gu) ?? []);
  const left = runs(source.text, missing).sort();
  if (left.length && left.join() === runs(target.text, extra).sort().join())
    return { missing: [], extra: [] };
  return { missing, extra };
}
