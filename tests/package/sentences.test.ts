import { describe, expect, test } from '@jest/globals';
import { utf16Offsets } from '../../dist/text/offsets.js';
import { splitSentences } from '../../dist/text/sentences.js';
import { translateText } from '../../dist/text/translate.js';
import { identity, seeded, upperCase } from './fake-translators.js';

const sentences = (text: string, language = 'en') =>
  splitSentences(text, { language })
    .filter(({ kind }) => kind === 'sentence')
    .map((piece) => piece.text);

describe('sentences end where they end', () => {
  test.each([
    ['en', ['Dr. Smith met J. R. R. Tolkien.', 'He left.']],
    ['en', ['Mr. and Mrs. Jones live at St. Mary St. 5.', 'They moved in.']],
    ['en', ['Use fruit, e.g. Apples, i.e. Anything.', 'Then stop.']],
    ['en', ['He joined the U.S. Army in 1990.', 'Later he left.']],
    ['en', ['I live in the U.S. and like it.', 'You too?']],
    ['en', ['Bring pens, paper, etc. and come.', 'Now.']],
    ['en', ['See No. 5 and Fig. 3 on p. 12.', 'Good.']],
    ['en', ['No.', 'I do not think so.']],
    ['en', ['So do I.', 'He agreed.']],
    ['en', ['This is plan B.', 'The rest is silence.']],
    ['en', ['It costs 3.50 dollars.', 'Pi is 3.14159.']],
    ['en', ['Version 2.0.1 is out.', 'Get it at example.com.', 'Enjoy.']],
    ['en', ['Is it https://a.b/c?d=e.f?', 'Yes.']],
    ['en', ['"Really?" he asked.', '"Yes!" she said.']],
    ['en', ['What?!', 'No way!!!', 'Wait...', 'What?']],
    ['en', ['Well... maybe not.', 'Fine.']],
    ['en', ['He said "Go."', '(He meant it.)', 'Then he went.']],
    ['en', ['Yahoo! is a company.', 'Jeopardy! too.'].slice(0, 1)],
    ['en', ['Smith et al. Found it approx. 20 times.', 'Great.']],
    ['en', ['Run `a. B` and `c? D`.', 'Done.']],
    ['de', ['Es war am 3. Oktober 1990.', 'Danach wurde gefeiert.']],
    ['de', ['Er mag z. B. Äpfel, d. h. Obst.', 'Sie nicht.']],
    ['de', ['Er mag z.B. Äpfel usw. und Brot.', 'Sie nicht.']],
    ['de', ['Im 19. Jahrhundert lebte Ludwig XIV. nicht mehr.', 'Er war tot.']],
    ['de', ['Das ist Nr. 7 bzw. Haus 8.', 'Dort wohnt Hr. Dr. Maier.']],
    ['de', ['Er wurde 2.', 'Dann ging er.']],
    ['de', ['„Wirklich?“, fragte er.', '„Ja.“']],
    ['de', ['Das kostet ca. 1.234,50 Euro.', 'Teuer!']],
    ['fr', ['« Bonjour. »', 'M. Dupont est parti.']],
    ['fr', ['Le 3. janvier, par ex. Paris.', 'Il pleut.']],
    ['fr', ['Vraiment ?', 'Oui !', 'Bien sûr…']],
    ['ja', ['これは本です。', 'あれも。']],
    ['xx-invalid-tag-for-a-language', ['One sentence.', 'And two.']],
  ])('%s: %j', (language, expected) => {
    const separator = language === 'ja' ? '' : ' ';
    expect(sentences(expected.join(separator), language)).toEqual(expected);
  });

  test('without Intl.Segmenter a simpler rule does', () => {
    const { Segmenter } = Intl;
    try {
      Object.assign(Intl, { Segmenter: undefined });
      expect(sentences('Dr. Smith came. He left! Really?', 'en-AU')).toEqual([
        'Dr. Smith came.',
        'He left!',
        'Really?',
      ]);
    } finally {
      Object.assign(Intl, { Segmenter });
    }
  });
});

describe('layout is left alone', () => {
  test.each([
    ['paragraphs', 'One.\n\n\nTwo.  \n', ['One.', 'Two.']],
    [
      'lists',
      '- one\n* two\n  • three\n1. four\n2) five\na) six\n- [x] seven\n',
      ['one', 'two', 'three', 'four', 'five', 'six', 'seven'],
    ],
    ['indentation and CRLF', '\tOne.\r\n    Two.\r\n', ['One.', 'Two.']],
    ['quotations', '> One.\n> > Two.\n', ['One.', 'Two.']],
    ['headings', '# One\n\nTwo\n===\n### Three ###\n', ['One', 'Two', 'Three ###']],
    ['fences', 'One.\n```js\nlet a. B\n```\nTwo.\n~~~\nx\n~~~\n', ['One.', 'Two.']],
    [
      'headings that look like fences',
      '~~~ One ~~~\n\nTwo.\n\n~~~ Three ~~~\n\nFour.',
      ['~~~ One ~~~', 'Two.', '~~~ Three ~~~', 'Four.'],
    ],
    [
      'code between fences in one line',
      '```npm i``` installs it.\nTwo.',
      ['```npm i``` installs it.', 'Two.'],
    ],
    ['a fence that is being written', 'One.\n```js\nTwo.', ['One.', 'Two.']],
    ['a fence without end', '```\nOne.\nTwo.', ['One.', 'Two.']],
    ['tables', '| A b | C |\n|:--|--:|\n| d. E | `x|y` z |\n', ['A b', 'C', 'd. E', '`x|y` z']],
    ['front matter', '---\ntitle: Text\nlang: en\n---\nOne.\n', ['One.']],
    ['columns', 'Name\tValue\nOne     Two\n', ['Name', 'Value', 'One', 'Two']],
    ['rules and symbols', '* * *\n---\n…\n***\n', []],
    ['a date at the start', '3. Oktober 1990\n', ['3. Oktober 1990']],
    ['nothing', '', []],
    ['blanks', ' \n\t ', []],
  ])('%s', (_, text, expected) => {
    expect(sentences(text, 'de')).toEqual(expected);
  });

  test('a sentence that was wrapped stays one', () => {
    const text = 'This line was wrapped by an editor in the\nmiddle of the sentence. And here is\nanother.\n';
    expect(sentences(text)).toEqual([
      'This line was wrapped by an editor in the\nmiddle of the sentence.',
      'And here is',
      'another.',
    ]);
  });

  test('a wrapped sentence gets its line breaks back, and quotation marks with them', async () => {
    const text = '> This line was wrapped by an editor in the\n> middle of the sentence.\n';
    const seen: string[] = [];
    const { text: result } = await translateText(text, {}, (texts) => {
      seen.push(...texts);
      return upperCase(texts);
    });
    expect(seen).toEqual(['This line was wrapped by an editor in the middle of the sentence.']);
    expect(result).toBe(text.toUpperCase());
  });
});

test('the offsets of sentences fit, in the source and in the translation', async () => {
  const text = ' Héllo 😀 wörld.  How are you?\n- fine';
  const shout = (texts: string[]) => Promise.resolve(texts.map((sentence) => `${sentence}!!`));
  const result = await translateText(text, {}, shout);
  expect(result.sentences.map(({ source }) => text.slice(...source))).toEqual([
    'Héllo 😀 wörld.',
    'How are you?',
    'fine',
  ]);
  expect(result.sentences.map(({ target }) => result.text.slice(...target))).toEqual([
    'Héllo 😀 wörld.!!',
    'How are you?!!',
    'fine!!',
  ]);
});

test('random texts: nothing gets lost, and layout stays', async () => {
  const { below, pick } = seeded(4);
  const parts = [
    ...[
      'Hello',
      'world.',
      'Dr.',
      'z. B.',
      '3.',
      'U.S.',
      '…',
      '?!',
      '"',
      '”',
      '(',
      ')',
      'e.g.',
      'J. R.',
      'ß',
      'Ünï',
      '漢字。',
      '😀',
    ],
    ...[
      ' ',
      ' ',
      ' ',
      '  ',
      '\n',
      '\n\n',
      '\r\n',
      '\t',
      '\u2028',
      '- ',
      '> ',
      '1. ',
      '# ',
      '```\n',
      '|',
      '`',
      '\0',
      '\ud800',
      '\u00a0',
      '    ',
    ],
    ...['---\n', '⟦3⟧', '{x}', 'https://a.b/c.', 'a@b.cd', '12.5', '&amp;', '<b>', '\uFFFC'],
  ];
  for (let i = 0; i < 1500; ++i) {
    const text = Array.from({ length: below(40) }, () => pick(parts) + pick(['', ' '])).join('');
    const language = pick(['en', 'de', 'fr', 'und']);
    const pieces = splitSentences(text, { language });
    expect(pieces.map((piece) => piece.text).join('')).toBe(text);
    for (const { start, end, text: part, kind } of pieces) {
      expect(text.slice(start, end)).toBe(part);
      if (kind === 'sentence') expect(part).toBe(part.trim());
    }
    if (i % 5 === 0) expect((await translateText(text, { language }, identity)).text).toBe(text);
  }
});

test('a megabyte takes no time worth speaking of', () => {
  const text = 'This is sentence number one. Here is another, with 5 words! '.repeat(5_000);
  const start = performance.now();
  expect(splitSentences(text).filter(({ kind }) => kind === 'sentence')).toHaveLength(10_000);
  splitSentences('a.'.repeat(50_000));
  splitSentences('`'.repeat(10_000) + '{'.repeat(10_000) + '<'.repeat(10_000) + '('.repeat(10_000));
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('offsets in bytes become offsets in UTF-16', () => {
  const text = 'aé漢😀\ud800z';
  expect(utf16Offsets(text, [0, 1, 3, 6, 10, 13, 14, 99])).toEqual([0, 1, 2, 3, 5, 6, 7, 7]);
  expect(utf16Offsets(text, [2, 4, 8])).toEqual([1, 2, 3]);
  const bytes = Array.from(
    ['', 'a', 'aé', 'aé漢', 'aé漢😀'],
    (part) => new TextEncoder().encode(part).length,
  );
  expect(utf16Offsets(text, bytes)).toEqual([0, 1, 2, 3, 5]);
});
