// What is known about the elements and attributes of HTML.

const set = (names: string) => new Set(names.split(' '));

const blocks = set(
  'address article aside base basefont blockquote body button caption center col colgroup dd details dialog dir div dl ' +
    'dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html label legend ' +
    'li link main menu meta nav noframes noscript ol optgroup option p param plaintext pre search section select source ' +
    'summary table tbody td template tfoot th thead title tr track ul xmp',
);
const voids = set(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr',
);
const words = set('code kbd samp var math');
const pictures = set('script style textarea svg iframe object video audio canvas noembed noframes applet');
const preformatted = set('pre xmp plaintext');

/** How an element's attributes are read. */
export type AttributeReader = (name: string) => string | null | undefined;

/**
 * What an element is to running text: `block` stands by itself, so that no sentence reaches into or out of it; `inline`
 * stands around words; the others are left as they are with all that is in them, `object` like a word in the
 * sentence, `point` like a picture between words, `break` like the end of a line, `kept` outside of all sentences.
 */
export type Role = 'block' | 'inline' | 'object' | 'point' | 'break' | 'kept';

/** What an element is to running text. */
export function roleOf(name: string, attribute: AttributeReader): Role {
  if (name === 'br') return 'break';
  if (isVoid(name)) return blocks.has(name) ? 'block' : 'point';
  if (pictures.has(name)) return 'point';
  const block = blocks.has(name);
  if (preformatted.has(name) || (block && isUntranslated(attribute))) return 'kept';
  if (block) return 'block';
  return words.has(name) || isUntranslated(attribute) ? 'object' : 'inline';
}

/** Whether an element is an index or a footnote, as in m², H₂O and word¹: it stays as it is, beside its word. */
export const isIndex = (name: string, text: string): boolean =>
  (name === 'sup' || name === 'sub') && !/\p{L}{2}/u.test(text);

/** Whether an element has no content and no end tag. */
export const isVoid = (name: string): boolean => voids.has(name);

/** Whether an element is marked as one that is not to be translated. */
export function isUntranslated(attribute: AttributeReader): boolean {
  if (attribute('translate')?.trim().toLowerCase() === 'no') return true;
  return /(?:^|\s)(?:notranslate|skiptranslate)(?:\s|$)/.test(attribute('class') ?? '');
}

/** Attributes that may hold text for people. */
export const textAttributes = [
  'alt',
  'title',
  'placeholder',
  'aria-label',
  'aria-description',
  'label',
  'value',
];

/** Whether an attribute of an element is to be translated. */
export function isTranslatable(name: string, attribute: string, read: AttributeReader): boolean {
  if (!textAttributes.includes(attribute)) return false;
  if (attribute === 'label') return name === 'option' || name === 'optgroup' || name === 'track';
  if (attribute !== 'value') return true;
  return name === 'input' && /^\s*(?:submit|button|reset)\s*$/i.test(read('type') ?? '');
}
