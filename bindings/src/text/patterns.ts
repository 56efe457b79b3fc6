// Finds what a translation has to leave as it is: addresses, code, placeholders, emoji and their like.

/** Kinds of things that are kept. `object` and `term` come from the caller, the others are found. */
export type EntityKind =
  | 'object'
  | 'glossary'
  | 'term'
  | 'code'
  | 'url'
  | 'email'
  | 'path'
  | 'placeholder'
  | 'tag'
  | 'handle'
  | 'version'
  | 'emoji'
  | 'foreign'
  | 'mask'
  | 'number';

/** Something in a text that is kept. */
export interface Entity {
  kind: EntityKind;
  /** UTF-16 offsets. */
  start: number;
  end: number;
}

const domains =
  'com|org|net|edu|gov|mil|io|dev|app|info|biz|eu|de|at|ch|fr|uk|nl|es|pl|ai|cloud|online|shop|tv|jp|cn|ru|br';
const extensions =
  'txt|pdf|jpe?g|png|gif|svg|webp|csv|tsv|json|ya?ml|toml|xml|html?|css|scss|[cm]?[jt]s|[jt]sx|mdx|py|rs|go|java|kt|rb|php|c|cc|cpp|h|hpp|cs|swift|sh|bat|ps1|md|rst|tex|docx?|xlsx?|pptx?|od[tsp]|zip|gz|tgz|bz2|xz|7z|rar|tar|mp[34]|wav|ogg|flac|avi|mov|mkv|log|ini|cfg|conf|env|lock|sql|db|exe|dll|iso|apk|wasm|octavo|bak|tmp';
const pictograph =
  '(?![©®™])\\p{Extended_Pictographic}(?:\\uFE0F|\\p{Emoji_Modifier})?(?:[\\u{E0020}-\\u{E007F}]+)?';

// In the order in which they are asked at the same place; the longer find wins. The last of each is quickly asked: a text
// without a match of it, as most are, need not be searched. What repeats either ends where the next match could begin, or
// is bounded: otherwise a text of nothing but beginnings would be searched to its end from each of them.
const patterns: [EntityKind, RegExp, sign: RegExp][] = [
  ['mask', /⟦[^⟦⟧\s]{0,12}⟧|[⟦⟧]/gu, /[⟦⟧]/],
  ['code', /(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)/gsu, /`/],
  [
    'url',
    /(?<![\p{L}\p{N}])(?:[a-z][a-z0-9+.-]{1,20}:\/\/|www\.|mailto:|(?:tel|sms):\+?\d|magnet:\?|urn:\w|data:\w+\/)[^\s<>"“”„«»⟦⟧`\uFFFC|\\^]+/giu,
    /:|www\./i,
  ],
  [
    'url',
    new RegExp(
      `(?<![\\p{L}\\p{N}@.-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.){1,5}(?:${domains})(?![\\p{L}\\p{N}_-]|\\.\\p{L})(?:[:/?#][^\\s<>"“”„«»⟦⟧\`\\uFFFC|\\\\^]*)?`,
      'gu',
    ),
    /\.[a-z]/,
  ],
  [
    'email',
    /(?<![\p{L}\p{N}.+_-])[\p{L}\p{N}][\p{L}\p{N}.+_%-]{0,63}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,}/gu,
    /@/,
  ],
  // Directories may have blanks in their names; what is in quotation marks may have them anywhere.
  [
    'path',
    /(?<![\p{L}\p{N}])[A-Za-z]:\\(?:(?<=["“„«]...)[^\\/:*?"<>|⟦⟧\uFFFC“”„«»\n\r]+(?:\\[^\\/:*?"<>|⟦⟧\uFFFC“”„«»\n\r]+)*(?=["“”»])|(?:[^\s\\/:*?"<>|⟦⟧\uFFFC]+(?: [^\s\\/:*?"<>|⟦⟧\uFFFC.,;!]+){0,3}\\)*[^\s\\/:*?"<>|⟦⟧\uFFFC]*)/gu,
    /:\\/,
  ],
  ['path', /(?<![\p{L}\p{N}.\\])\\\\[\w.-]+(?:\\[\w.$-]+)+/gu, /\\\\/],
  [
    'path',
    /(?<![\p{L}\p{N}_/.~<$}%-])(?:~|\.{1,2}|\$\w+|\$\{\w+\}|%\w+%)?\/[\w.@+~-]+(?:\/[\w.@+~-]*)*/gu,
    /\//,
  ],
  [
    'path',
    new RegExp(
      `(?<![\\p{L}\\p{N}_/.@+-])(?:[\\w@+-][\\w.@+-]*/)*[\\w@+-][\\w.@+-]*\\.(?:${extensions})(?![\\p{L}\\p{N}_-])`,
      'gu',
    ),
    /\.[a-z0-9]/,
  ],
  [
    'tag',
    /<\/?[A-Za-z][\w:.-]*(?:\s[^<>\n]*)?\/?>|<!--(?:(?!<!--)[^])*?-->|<(?<own>[%?])(?:(?!<[%?])[^]){0,400}?\k<own>>|&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});/gu,
    /[<&]/,
  ],
  // {{…}} ${…} #{…} %{…} {%…%} {0} {name} {count, plural, …}; braces nest twice, as in ICU messages.
  [
    'placeholder',
    /\{\{[^{}\n]{0,100}\}\}\}?|\{%[^{}\n]{0,100}%\}|[$#%@]\{[^{}\n]{0,100}\}|\{\s*(?:[\w.$[\]-]{1,60}\s*)?(?:[,:|!?](?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\}){0,400})?\}/gu,
    /\{/,
  ],
  [
    'placeholder',
    /(?<![\p{N}%])%(?:\d{1,3}\$|\([\w.]{1,60}\))?[-+#0]{0,5}(?:\d{1,4}|\*)?(?:\.\d{1,4})?(?:hh?|ll?|[Lzjtq])?[diouxXeEfFgGaAcCsSpn@](?![\p{L}\p{N}])/gu,
    /%/,
  ],
  ['placeholder', /(?<![\p{N}%])%\d+(?![\p{L}\p{N}%.,])|%[A-Za-z_]\w{1,40}%(?!%)|%%/gu, /%/],
  [
    'placeholder',
    /(?<![\p{L}\p{N}$])\$[A-Za-z_]\w*|\$\([\w.]+\)|(?<![\p{L}\p{N}:]):[a-z][a-z0-9_+-]*:(?![\p{L}\p{N}:])/gu,
    /[$:]/,
  ],
  ['code', /(?<![\p{L}\p{N}_.$-])(?:[A-Za-z_$][\w$]*(?:\.|::|->)){0,9}[A-Za-z_$][\w$]*\(\)/gu, /\(\)/],
  ['code', /(?<![\p{L}\p{N}_:])(?:[A-Za-z_]\w*::)+[A-Za-z_]\w*(?:\(\))?/gu, /\w::/],
  [
    'code',
    /(?<![\p{L}\p{N}_-])(?:--[a-z][\w-]*(?:=[\w./-]+)?|(?:[A-Za-z]\w*\.){0,9}(?=\w*[A-Za-z])_*[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+(?:-[A-Za-z0-9]+)*_*(?:\.\w+)*)(?![\p{L}\p{N}_-])/gu,
    /--|_/,
  ],
  [
    'code',
    /(?<![\p{L}\p{N}-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\p{L}\p{N}])|\b0x[0-9a-fA-F]+\b/gu,
    /-|0x/,
  ],
  ['code', /(?<![\p{L}\p{N}-])(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}(?![\p{L}\p{N}-])/gu, /\d/],
  // B12, TCK-20931, DE89370400440532013000
  [
    'code',
    /(?<![\p{L}\p{N}_-])(?=[A-Z-]*\d)(?=[\d-]*[A-Z])[A-Z\d]+(?:-[A-Z\d]+)*(?![\p{L}\p{N}_]|-\p{L})/gu,
    /\d/,
  ],
  // 1e-9, 2^10
  ['code', /(?<![\p{L}\p{N}.,])\d+(?:[.,]\d+)?(?:[eE][-+]?\d+|\^-?\d+)(?![\p{L}\p{N}])/gu, /\d[eE^]/],
  ['code', /(?<![\p{L}\p{N}-])\d{4}-\d\d-\d\dT\d\d:[\d:.]*\d(?:Z|[-+]\d\d:?\d\d)?(?![\p{L}\p{N}])/gu, /\dT/],
  // IPv6 and MAC addresses, which unlike a time have letters in them or two colons in a row.
  [
    'code',
    /(?<![\p{L}\p{N}:.])(?=[\d:]*(?:[a-fA-F]|::))(?:[\da-fA-F]{0,4}:){2,7}[\da-fA-F]{1,4}(?![\p{L}\p{N}:])/gu,
    /:/,
  ],
  // Telephone numbers: digits in groups, which must stay together. Accounts and cards: groups of four.
  ['code', /(?<![\p{L}\p{N}])(?:\+\d{1,3}|0\d{2,5})(?:[ \u00a0-]\d{2,})+(?![\p{L}\p{N}])/gu, /\+\d|0\d/],
  [
    'code',
    /(?<![\p{L}\p{N}])(?:\+\d{1,3}[ \u00a0]?)?\(\+?\d{1,5}\)[ \u00a0]?\d{2,}(?:[ \u00a0/-]\d{2,})+(?![\p{L}\p{N}])/gu,
    /\(\+?\d/,
  ],
  [
    'code',
    /(?<![\p{L}\p{N}])(?:[A-Z]{2}\d\d|\d{4})(?:[ -][A-Z\d]{4}){3,7}(?:[ -][A-Z\d]{1,4})?(?![\p{L}\p{N}])/gu,
    /\d/,
  ],
  ['path', /(?<![\p{L}\p{N}_/.])\.[a-z][\w-]{2,}(?:\.[\w-]+)*(?![\p{L}\p{N}_-])/gu, /\.[a-z]/],
  ['handle', /(?<![\p{L}\p{N}_&#/.])(?:#[\p{L}_][\p{L}\p{M}\p{N}_]*|@[A-Za-z_][\w]*(?:[./-]\w+)*)/gu, /[#@]/],
  [
    'version',
    /(?<![\p{L}\p{N}.,])(?:v\d+(?:\.\d+)+|(?!\d{1,3}(?:\.\d{3})+(?![\d.]))(?!\d{1,2}\.\d{1,2}\.(?:\d{4}|\d\d)(?![\d.]))\d+(?:\.\d+){2,})(?:-?(?:alpha|beta|rc|dev|pre)[.\d]*)?(?![\p{L}\p{N}])/gu,
    /\d/,
  ],
  [
    'emoji',
    new RegExp(
      `(?:\\p{Regional_Indicator}{2}|[0-9#*]\\uFE0F?\\u20E3|${pictograph}(?:\\u200D${pictograph})*|[\\u2190-\\u21FF\\u2300-\\u23FF\\u2500-\\u27BF\\u2900-\\u297F\\u2B00-\\u2BFF]\\uFE0F?)+`,
      'gu',
    ),
    /[\u0080-\uffff]/,
  ],
];

const foreign =
  /(?:(?!\p{Script=Latin}|\p{Script=Common})[\p{L}\p{M}])+(?:[\s・·-]+(?:(?!\p{Script=Latin}|\p{Script=Common})[\p{L}\p{M}])+)*/gu;
const beyondLatin = /[\u0250-\uffff]/;
const otherScripts =
  /^(?:ru|uk|be|bg|mk|sr|kk|ky|mn|tg|el|he|yi|ar|fa|ur|ps|hi|mr|ne|bn|pa|gu|ta|te|kn|ml|si|th|lo|my|km|ka|hy|am|ja|ko|zh|yue)\b/i;

/** Finds what has to be kept, in the order of the text, nothing overlapping. */
export function findEntities(text: string, language = 'en'): Entity[] {
  const found: Entity[] = [];
  for (const [kind, pattern, sign] of patterns) {
    if (!sign.test(text)) continue;
    for (const match of text.matchAll(pattern)) {
      const length = kind === 'url' || kind === 'path' ? addressLength(match[0]) : match[0].length;
      if (length > 1 || kind === 'emoji' || kind === 'mask') {
        found.push({ kind, start: match.index, end: match.index + length });
      }
    }
  }
  if (beyondLatin.test(text) && !otherScripts.test(language)) {
    for (const match of text.matchAll(foreign)) {
      if (/\p{L}/u.test(match[0]))
        found.push({ kind: 'foreign', start: match.index, end: match.index + match[0].length });
    }
  }
  return withoutOverlaps(found);
}

/** Finds the whole words and phrases among the terms; the first letter may be a capital at will. */
export function findTerms(text: string, terms: readonly string[], kind: EntityKind): Entity[] {
  return terms.flatMap((term) => {
    const [first = '', ...rest] = term.trim();
    if (!first) return [];
    const either =
      first === first.toLowerCase() ? `[${escape(first)}${escape(first.toUpperCase())}]` : escape(first);
    const start = /[\p{L}\p{N}_]/u.test(first) ? '(?<![\\p{L}\\p{N}_])' : '';
    const end = /[\p{L}\p{N}_]$/u.test(term.trim()) ? '(?![\\p{L}\\p{N}_])' : '';
    const pattern = new RegExp(
      start + either + rest.map(escape).join('').replace(/\s+/g, '\\s+') + end,
      'gu',
    );
    return Array.from(text.matchAll(pattern), (match) => ({
      kind,
      start: match.index,
      end: match.index + match[0].length,
    }));
  });
}

/** Sorts finds by place; of two that overlap the earlier stays, of two at one place the longer. */
export function withoutOverlaps(found: readonly Entity[]): Entity[] {
  const sorted = [...found].sort((a, b) => a.start - b.start || b.end - a.end);
  let end = 0;
  return sorted.filter((entity) => {
    if (entity.start < end) return false;
    end = entity.end;
    return true;
  });
}

/** Leaves off the punctuation after an address, and a bracket that was opened before it. */
function addressLength(address: string): number {
  const least = Math.max(0, address.length - 99); // nobody writes more after one
  for (let length = address.length; length > least; --length) {
    const last = address[length - 1] ?? '';
    const opening = { ')': '(', ']': '[', '}': '{' }[last];
    const count = (sign: string) => address.slice(0, length).split(sign).length;
    if (opening ? count(last) <= count(opening) : !/[.,;:!?'’*_…]/.test(last)) return length;
  }
  return least;
}

const escape = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
