// Character references of HTML: decoded for the model, encoded again where the markup needs it.

// Code point of the first, then its name and those of the code points after it.
const table =
  'a0 nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 ' +
  'sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc ' +
  'Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve ' +
  'Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute ' +
  'acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ' +
  'ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml;152 OElig ' +
  'oelig;160 Scaron scaron;178 Yuml;192 fnof;2c6 circ;2dc tilde;391 Alpha Beta Gamma Delta Epsilon Zeta ' +
  'Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho;3a3 Sigma Tau Upsilon Phi Chi Psi Omega;3b1 ' +
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma ' +
  'tau upsilon phi chi psi omega;3d1 thetasym upsih;3d6 piv;2002 ensp emsp;2009 thinsp;200c zwnj zwj ' +
  'lrm rlm;2013 ndash mdash;2018 lsquo rsquo sbquo;201c ldquo rdquo bdquo;2020 dagger Dagger bull;2026 ' +
  'hellip;2030 permil;2032 prime Prime;2039 lsaquo rsaquo;203e oline;2044 frasl;20ac euro;2111 ' +
  'image;2118 weierp;211c real;2122 trade;2135 alefsym;2190 larr uarr rarr darr harr;21b5 crarr;21d0 ' +
  'lArr uArr rArr dArr hArr;2200 forall;2202 part exist;2205 empty;2207 nabla isin notin;220b ni;220f ' +
  'prod;2211 sum minus;2217 lowast;221a radic;221d prop infin;2220 ang;2227 and or cap cup int;2234 ' +
  'there4;223c sim;2245 cong;2248 asymp;2260 ne equiv;2264 le ge;2282 sub sup nsub;2286 sube supe;2295 ' +
  'oplus;2297 otimes;22a5 perp;22c5 sdot;2308 lceil rceil lfloor rfloor;2329 lang rang;25ca loz;2660 ' +
  'spades;2663 clubs;2665 hearts diams';

const names = new Map<string, string>([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);
for (const run of table.split(';')) {
  const [first = '', ...rest] = run.split(' ');
  rest.forEach((name, i) => names.set(name, String.fromCodePoint(parseInt(first, 16) + i)));
}

// What Windows-1252 has where Unicode has control characters, 0x80 to 0x9f; browsers read it so.
const windows = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** What may be a reference. The oldest names count without a semicolon as well. */
export const referencePattern =
  /&(?:#[xX]([0-9a-fA-F]{1,8});?|#(\d{1,10});?|([A-Za-z][A-Za-z0-9]{1,31})(;?))/g;

/**
 * What a match of `referencePattern` means: the character; undefined for a name that is not one of the 250 known here,
 * so that its character is not known either; or the text itself if browsers see no reference in it.
 */
export function decodeReference(match: readonly (string | undefined)[]): string | undefined {
  const [text = '', hexadecimal, decimal, name, semicolon] = match;
  if (name && semicolon) return names.get(name);
  if (name) return isOld(name) ? names.get(name) : startsOld(name) ? undefined : text;
  const code = hexadecimal ? parseInt(hexadecimal, 16) : parseInt(decimal ?? '0', 10);
  if (code >= 0x80 && code < 0xa0) return windows[code - 0x80];
  const valid = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
  return valid ? String.fromCodePoint(code) : '\ufffd';
}

const isOld = (name: string) => (names.get(name) ?? '\u0100') < '\u0100' && name !== 'apos';

const startsOld = (name: string) => {
  for (let length = 2; length < name.length; ++length) if (isOld(name.slice(0, length))) return true;
  return false;
};

/** Decodes an attribute's value; undefined if it has a reference that is not known here. */
export function decode(value: string): string | undefined {
  const references = Array.from(value.matchAll(referencePattern), decodeReference);
  if (references.includes(undefined)) return undefined;
  let next = 0;
  return value.replace(referencePattern, () => references[next++] ?? '');
}

/** Writes a text so that it is only text in HTML, with as few references as possible. */
export function encodeText(text: string): string {
  return text
    .replace(/&(?=[A-Za-z#]|$)/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/\u00a0/g, '&nbsp;');
}

/** Writes an attribute's value for the given quotation mark. */
export function encodeAttribute(text: string, quote: string): string {
  const safe = text.replace(/&(?=[A-Za-z#]|$)/g, '&amp;');
  return quote === "'" ? safe.replace(/'/g, '&#39;') : safe.replace(/"/g, '&quot;');
}
