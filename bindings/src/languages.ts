// Language tags (BCP 47): in canonical form, and matched as a reader would expect.

/** The canonical form of a tag: `EN-gb` becomes `en-GB`. Throws a `RangeError` for what is no tag. */
export function canonicalTag(tag: string | undefined): string {
  if (typeof tag !== 'string') throw new TypeError('A language must be given as a BCP 47 tag, such as "en".');
  try {
    return new Intl.Locale(tag).toString();
  } catch {
    throw new RangeError(`"${tag}" is not a language tag (BCP 47).`);
  }
}

/**
 * How well an offered language serves a requested one; 0 is not at all. `en-GB` is served by `en`, `zh-TW` by `zh-Hant`
 * but not by `zh`, which is in the other script.
 */
export function matchTags(requested: string, offered: string): number {
  const [wanted, have] = [requested, offered].map((tag) => new Intl.Locale(canonicalTag(tag)));
  if (!wanted || !have) return 0;
  if (wanted.baseName === have.baseName) return 4;
  if (wanted.baseName.startsWith('und')) return 0; // which maximize would take for English
  const [full, given] = [wanted.maximize(), have.maximize()];
  if (full.language !== given.language || full.script !== given.script) return 0;
  if (full.region === given.region) return 3;
  return have.region ? 1 : 2; // a language without a region serves all of them
}

/** The entry that serves a pair of languages best, the first among equals. */
export function bestMatch<T extends { source: string; target: string }>(
  entries: readonly T[],
  source: string,
  target: string,
): T | undefined {
  let best: { entry: T; score: number } | undefined;
  for (const entry of entries) {
    const score = matchTags(source, entry.source) * matchTags(target, entry.target);
    if (score > (best?.score ?? 0)) best = { entry, score };
  }
  return best?.entry;
}
