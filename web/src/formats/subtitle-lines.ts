// Divides the text of subtitles: a sentence over its cues, and a cue over lines that can be read at a glance.

/** How many characters a line of a subtitle has at most, by the usual guidelines. */
export const longestLine = 42;

/** Cuts a text at blanks into as many parts as there are shares, in proportion to them but after a comma if one is near. */
export function divideText(text: string, shares: readonly number[]): string[] {
  const total = shares.reduce((sum, share) => sum + share, 0);
  const blanks = Array.from(text.matchAll(/ /g), ({ index }) => index);
  const parts: string[] = [];
  let start = 0;
  let reached = 0;
  shares.slice(0, -1).forEach((share, i) => {
    reached += share;
    const ideal = (text.length * reached) / total;
    const later = shares.length - 2 - i; // cuts that come after this one
    const free = blanks.filter((at) => at > start);
    const usable = free.slice(0, Math.max(1, free.length - later));
    const distance = (at: number) =>
      Math.abs(at - ideal) -
      (/[,;:.!?…–—]["”’»)]*$/.test(text.slice(Math.max(0, at - 9), at)) ? text.length / 8 : 0);
    const cut = usable.reduce<number | undefined>(
      (best, at) => (best === undefined || distance(at) < distance(best) ? at : best),
      undefined,
    );
    // With fewer words than cues the last cues stay empty.
    parts.push(text.slice(start, cut ?? text.length).trim());
    start = cut ?? text.length;
  });
  return [...parts, text.slice(start).trim()];
}

/** Turns some of the blanks of a text into line breaks: as few as possible, the lines of about the same length. */
export function wrapText(text: string): string {
  if (text.length <= longestLine) return text;
  const words = text.split(' ');
  // No cue has so many words; if one does, it need not be balanced as a whole.
  if (words.length > 60) {
    const parts: string[] = [];
    while (words.length) parts.push(wrapText(words.splice(0, 60).join(' ')));
    return parts.join('\n');
  }
  let lines: string[] | undefined;
  for (let count = Math.min(words.length, Math.ceil(text.length / longestLine)); !lines; ++count)
    lines = balanced(words, count);
  return lines.join('\n');
}

/** The best way to set words in so many lines; undefined if a line gets too long. */
function balanced(words: readonly string[], count: number): string[] | undefined {
  const ideal = words.join(' ').length / count;
  // best[n]: the first n words in the lines so far
  let best: ({ cost: number; lines: string[] } | undefined)[] = [{ cost: 0, lines: [] }];
  for (let line = 1; line <= count; ++line) {
    const next: typeof best = [];
    for (let end = line; end <= words.length; ++end) {
      for (let start = end - 1; start >= line - 1; --start) {
        const text = words.slice(start, end).join(' ');
        if (text.length > longestLine && end - start > 1) break;
        const before = best[start];
        if (!before) continue;
        const pause = end < words.length && /[,;:.!?…–—]$/.test(text) ? 400 : 0;
        const cost = before.cost + (text.length - ideal) ** 2 - pause;
        if (cost < (next[end]?.cost ?? Infinity)) next[end] = { cost, lines: [...before.lines, text] };
      }
    }
    best = next;
  }
  return best[words.length]?.lines;
}
