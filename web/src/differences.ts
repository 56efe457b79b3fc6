// Which words of one translation are not in another: what a reader who chooses between them wants to see.

/** A stretch of words, and whether the other text lacks it. */
export interface Stretch {
  readonly text: string;
  readonly different: boolean;
}

const wordsOf = (text: string) => text.match(/\s*\S+/gu) ?? [];

/** Cuts a text into what it shares with another one (their longest common subsequence of words) and what it does not. */
export function differences(text: string, other: string): Stretch[] {
  const words = wordsOf(text);
  const others = wordsOf(other).map((word) => word.trim());
  const same = (i: number, j: number) => words[i]?.trim() === others[j];

  // longest[i][j]: of what begins with word i here and word j there.
  const longest = Array.from({ length: words.length + 1 }, () => new Uint16Array(others.length + 1));
  const at = (i: number, j: number) => longest[i]?.[j] ?? 0;
  for (let i = words.length - 1; i >= 0; --i) {
    for (let j = others.length - 1; j >= 0; --j) {
      const row = longest[i];
      if (row) row[j] = same(i, j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }

  const stretches: { text: string; different: boolean }[] = [];
  for (let i = 0, j = 0; i < words.length;) {
    const shared = same(i, j);
    if (!shared && j < others.length && at(i, j + 1) >= at(i + 1, j)) {
      ++j; // a word that only the other one has
      continue;
    }
    const last = stretches.at(-1);
    const word = words[i++] ?? '';
    if (shared) ++j;
    if (last?.different === !shared) last.text += word;
    else stretches.push({ text: word, different: !shared });
  }
  return stretches;
}

/** Whether two texts differ at a passage of the first. */
export function differsAt(
  text: string,
  other: string,
  { start, end }: { start: number; end: number },
): boolean {
  let offset = 0;
  return differences(text, other).some(({ text: stretch, different }) => {
    const begin = offset;
    offset += stretch.length;
    return different && begin < end && start < offset;
  });
}
