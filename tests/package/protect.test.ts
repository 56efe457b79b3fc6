import { describe, expect, test } from '@jest/globals';
import type { AlignedTranslation } from '../../dist/text/alignment.js';
import { divide } from '../../dist/text/divide.js';
import { findNumbers } from '../../dist/text/numbers.js';
import type { Masked } from '../../dist/text/protect.js';
import { keptIn, prepare } from '../../dist/text/protect.js';
import { restore } from '../../dist/text/restore.js';
import type { TranslateOptions, TranslateTexts } from '../../dist/text/translate.js';
import { translateSentences, translateText } from '../../dist/text/translate.js';
import {
  alignedReverse,
  hostile,
  identity,
  reverseWords,
  seeded,
  silent,
  upperCase,
} from './fake-translators.js';

const masked = (text: string, options = {}) => {
  const prepared = prepare(text, options);
  return 'masked' in prepared ? prepared.masked : `= ${prepared.verbatim}`;
};

describe('what is masked', () => {
  test.each([
    ['Visit https://example.com/a?b=1, or www.example.org.', 'Visit ⟦0⟧, or ⟦1⟧.'],
    ['(see https://en.wikipedia.org/wiki/A_(b)) and example.com/x', '(see ⟦0⟧) and ⟦1⟧'],
    ['Mail to jane.doe+x@mail.example.co.uk!', 'Mail to ⟦0⟧!'],
    ['Open C:\\Users\\me\\a.txt, ~/notes/b.md, ./c and src/index.ts.', 'Open ⟦0⟧, ⟦1⟧, ⟦2⟧ and ⟦3⟧.'],
    ['Look into /etc/hosts or package.json now', 'Look into ⟦0⟧ or ⟦1⟧ now'],
    ['Run `npm install` and ``a `b` c`` here', 'Run ⟦0⟧ and ⟦1⟧ here'],
    ['Hello %s, %1$s, %(name)s, %d, %.2f, %@ and %%', 'Hello ⟦0⟧, ⟦1⟧, ⟦2⟧, ⟦3⟧, ⟦4⟧, ⟦5⟧ and ⟦6⟧'],
    [
      'Hello {0}, {name}, {{ user.name }}, ${x}, $HOME, #{y}, %{z}',
      'Hello ⟦0⟧, ⟦1⟧, ⟦2⟧, ⟦3⟧, ⟦4⟧, ⟦5⟧, ⟦6⟧',
    ],
    ['You have {n, plural, one {# item} other {# items}} left', 'You have ⟦0⟧ left'],
    ['Press <b>OK</b>&nbsp;now &amp; <br/> wait', 'Press ⟦0⟧OK⟦1⟧now ⟦2⟧ ⟦3⟧ wait'],
    ['Great 🎉🎉 👩‍💻 👍🏽 🇩🇪 1️⃣ work ✓', 'Great ⟦0⟧ ⟦1⟧ ⟦2⟧ ⟦3⟧ ⟦4⟧ work ⟦5⟧'],
    ['Ask @jane_doe about #release2024 please', 'Ask ⟦0⟧ about ⟦1⟧ please'],
    ['Use max_size, foo.bar() and --dry-run in v1.2.3', 'Use ⟦0⟧, ⟦1⟧ and ⟦2⟧ in ⟦3⟧'],
    ['The server 192.168.0.1 has 123e4567-e89b-12d3-a456-426614174000', 'The server ⟦0⟧ has ⟦1⟧'],
    ['The word Привет мир is Russian', 'The word ⟦0⟧ is Russian'],
    ['The text ⟦3⟧ has ⟦ in it', 'The text ⟦0⟧ has ⟦1⟧ in it'],
    ['{a}{b} are neighbours', '⟦0⟧ are neighbours'],
    ['Run C:\\Program Files\\App\\x.exe or "D:\\My Files\\a b.txt" now.', 'Run ⟦0⟧ or "⟦1⟧" now.'],
    ['Look into $HOME/bin, ${DIR}/x and %APPDATA%/y.', 'Look into ⟦0⟧, ⟦1⟧ and ⟦2⟧.'],
    ['Write <%= name %> or <?php echo 1 ?> there', 'Write ⟦0⟧ or ⟦1⟧ there'],
    ['Open magnet:?xt=urn:btih:ab or data:text/plain,hi now', 'Open ⟦0⟧ or ⟦1⟧ now'],
    ['Ping fe80::1, 2001:db8::ff or 00:1a:2b:3c:4d:5e now', 'Ping ⟦0⟧, ⟦1⟧ or ⟦2⟧ now'],
    ['Call +49 (0)30 123456-78 or (555) 123-4567 today', 'Call ⟦0⟧ or ⟦1⟧ today'],
    ['Pay DE89 3704 0044 0532 0130 00 by 4111 1111 1111 1111', 'Pay ⟦0⟧ by ⟦1⟧'],
    ['The file report_2024-01-01 is new', 'The file ⟦0⟧ is new'],
    ['Use std::vector for 1e-9, 6.02e23 or 2^10 now', 'Use ⟦0⟧ for ⟦1⟧, ⟦2⟧ or ⟦3⟧ now'],
  ])('%s', (text, expected) => {
    expect(masked(text)).toBe(expected);
  });

  test.each([
    'A 50% discount on 1,234.50 dollars until 12/05/2024 at 10:30 and/or later, he/she said.',
    'Use C++ or C# at AT&T for $5, i.e. if 3 < 5 and 7 > 6.',
    'The date is 12.05.2024, the sum 1.234.567 and the speed 5 km/h.',
    "He said: well-known, it's [sic] e.g. this… © 2024 ™",
    'From 23:59:59 on, in 2019 2020 2021, the data: all of (2020) 12 people.',
  ])('not: %s', (text) => {
    expect(masked(text)).toBe(text);
  });

  test.each([
    '',
    ' ',
    '123',
    '10 + 5 = 15',
    'https://a.bc',
    '12.05.2024 😀',
    '{name}',
    '%s: %s',
    '→ …',
    'Привет, мир!',
    '⟦3⟧',
    '`code`',
  ])('nothing to translate in "%s"', async (text) => {
    expect(masked(text)).toBe(`= ${text}`);
    expect((await translateText(text, {}, silent)).text).toBe(text);
  });
});

describe('what comes back', () => {
  const translateOne = async (text: string, translate: TranslateTexts, options: TranslateOptions = {}) =>
    (await translateSentences([text], options, translate))[0];
  const answer = (...answers: string[]): TranslateTexts => {
    const rest = answers.values();
    return (texts) => Promise.resolve(texts.map(() => rest.next().value ?? ''));
  };

  test.each([
    [
      'lost at the end',
      'See {url} for the price of {x}.',
      'Siehe ⟦0⟧ für den Preis.',
      'Siehe {url} für den Preis {x}.',
    ],
    ['lost at the start', '{x} is here.', 'ist hier.', '{x} ist hier.'],
    ['lost in the middle', 'The file {x} is new.', 'Die Datei ist neu.', 'Die Datei {x} ist neu.'],
    ['doubled', 'Hello {x}!', 'Hallo ⟦0⟧ ⟦0⟧!', 'Hallo {x}!'],
    ['invented', 'Hello {x}!', 'Hallo ⟦0⟧, ⟦7⟧!', 'Hallo {x},!'],
    ['broken', 'Hello {x} there', 'Hallo ⟦ 0 ⟧ dort', 'Hallo {x} dort'],
    ['apart', 'A note{x} and {y}th thing', 'Eine Note ⟦0⟧ und ⟦1⟧ te Sache', 'Eine Note{x} und {y}te Sache'],
    ['glued', 'Hello {x} there', 'Hallo⟦0⟧dort', 'Hallo {x} dort'],
    [
      'a spoilt number',
      'It has 2.200.112 members.',
      'Es hat 2.200.12 Mitglieder.',
      'Es hat 2.200.112 Mitglieder.',
    ],
    ['a lost number', 'It has 37 members.', 'Es hat Mitglieder.', 'Es hat 37 Mitglieder.'],
    ['another format', 'It costs 1,234.5 now.', 'Es kostet jetzt 1.234,5.', 'Es kostet jetzt 1.234,5.'],
    ['less than one', 'It is .75 now.', 'Es ist jetzt 75.', 'Es ist jetzt .75.'],
    ['less than one, in full', 'It is .75 now.', 'Es ist jetzt 0,75.', 'Es ist jetzt 0,75.'],
    ['numbers side by side', 'A{x} 7 b', '7 ⟦0⟧ b', '7 {x} b'],
    ['apart, with another one lost there', 'A note{x} {y} b', 'Eine Note ⟦0⟧ b', 'Eine Note{x} {y} b'],
    ['apart, with another one lost before', '{y} note{x} b', 'Note ⟦1⟧ b', '{y} Note{x} b'],
    ['a range', 'Takes 10-20 days.', 'Dauert 10 bis 20 Tage.', 'Dauert 10 bis 20 Tage.'],
    ['an afternoon', 'Come at 3:05 pm.', 'Komm um 15.05 Uhr.', 'Komm um 15.05 Uhr.'],
    ['a number in words', 'Twelve days.', '12 Tage.', '12 Tage.'],
    ['several lost', 'MAIL: a@b.co, c@d.eu;{x}{y}', 'MAIL: , ;', 'MAIL: , a@b.co c@d.eu; {x}{y}'],
  ])('%s', async (_, source, wrong, expected) => {
    // The second answer is of no use, so that the first is repaired.
    expect((await translateOne(source, answer(wrong, '⟦1⟧ ⟦2⟧ ⟦3⟧ ⟦4⟧')))?.text).toBe(expected);
  });

  test('a second attempt masks numbers, and is taken if it is better', async () => {
    const seen: string[][] = [];
    const result = await translateSentences(['Fine.', 'It has 2,200,112 members and {x}.'], {}, (texts) => {
      seen.push(texts);
      return Promise.resolve(
        texts.map((text) => text.replace('2,200,112', '2,200,12').replace('It has', 'Es hat')),
      );
    });
    expect(seen).toEqual([['Fine.', 'It has 2,200,112 members and ⟦0⟧.'], ['It has ⟦5⟧ members and ⟦6⟧.']]);
    expect(result.map(({ text }) => text)).toEqual(['Fine.', 'Es hat 2,200,112 members and {x}.']);
    expect(result[1]?.problems).toEqual([]);
  });

  test('a second attempt masks signs with their numbers, if they got lost', async () => {
    const seen: string[] = [];
    const forgetful: TranslateTexts = (texts) => {
      seen.push(...texts);
      return Promise.resolve(texts.map((text) => text.replace(/[$%°]C?/g, '')));
    };
    const source = 'Pay $5, 19 % of it, at -5 °C to {x}%.';
    expect((await translateOne(source, forgetful))?.text).toBe('Pay $5, 19 % of it, at -5 °C to {x}.');
    expect(seen[1]).toBe('Pay ⟦5⟧, ⟦6⟧ of it, at ⟦7⟧ to ⟦8⟧%.');
  });

  test('an alignment decides where a lost thing goes', () => {
    const prepared = prepare('Read {x} now please') as Masked;
    const translation: AlignedTranslation = {
      text: 'bitte jetzt lesen',
      alignment: {
        source: [
          [0, 4],
          [5, 8],
          [9, 12],
          [13, 19],
        ],
        target: [
          [0, 5],
          [6, 11],
          [12, 17],
        ],
        weights: [
          [0, 0, 0, 9],
          [0, 0, 9, 0],
          [9, 1, 0, 0],
        ],
      },
    };
    const { text, alignment } = restore(translation, prepared);
    expect(text).toContain('{x}');
    expect(alignment?.source).toEqual([
      [0, 4],
      [5, 8],
      [9, 12],
      [13, 19],
    ]);
  });

  test('alignments fit the texts before masking and after', async () => {
    const source = 'Open https://example.com/long with {name} now.';
    const result = await translateOne(source, alignedReverse);
    expect(result?.text).toBe('NOW {name} WITH https://example.com/long OPEN.');
    const pairs = result?.alignment?.target.map((span, i) => [
      result.text.slice(...span),
      source.slice(...(result.alignment?.source[i] ?? [0, 0])),
    ]);
    expect(pairs).toEqual([
      ['NOW', 'now'],
      ['{name}', '{name}'],
      ['WITH', 'with'],
      ['https://example.com/long', 'https://example.com/long'],
      ['OPEN', 'Open'],
      ['.', '.'],
    ]);
  });

  test('glossary and terms', async () => {
    const options = {
      glossary: { account: 'Konto', 'log in': 'anmelden' },
      doNotTranslate: ['Octavo Pro', 'c++'],
    };
    const text = 'Account: log in to your Octavo Pro account, not accounts, with C++.';
    expect((await translateOne(text, upperCase, options))?.text).toBe(
      'Konto: anmelden TO YOUR Octavo Pro Konto, NOT ACCOUNTS, WITH C++.',
    );
    expect((await translateOne('account', silent, options))?.text).toBe('Konto');
    expect((await translateOne('Account', silent, { glossary: new Map([['account', 'konto']]) }))?.text).toBe(
      'Konto',
    );
  });

  test('a capital does not make one entry of the glossary another', async () => {
    const glossary = { mouse: 'Maus', house: 'Haus', cat: 'Katze', Bat: 'Schläger', bat: 'Fledermaus' };
    expect((await translateOne('House of the House, Bat, bat', upperCase, { glossary }))?.text).toBe(
      'Haus OF THE Haus, Schläger, Fledermaus',
    );
  });

  test('an empty answer leaves the source', async () => {
    expect((await translateText('Hello {x}.\n\nBye 5.', {}, silent)).text).toBe('Hello {x}.\n\nBye 5.');
  });

  test('the same sentence is asked for once', async () => {
    const seen: string[] = [];
    await translateText('Yes. Yes. Hello {a}! Hello {b}!', {}, (texts) => {
      seen.push(...texts);
      return upperCase(texts);
    });
    expect(seen).toEqual(['Yes.', 'Hello ⟦0⟧!']);
  });
});

describe('sentences that are too long or too full', () => {
  test('are divided, and nothing gets lost', async () => {
    const { below, pick } = seeded(8);
    const words = ['word', 'comma,', '{x}', 'https://a.bc/d', '42', '😀', 'и', 'ver-y', '\ud83d\ude00x'];
    for (let i = 0; i < 200; ++i) {
      const sentence = Array.from({ length: 1 + below(80) }, () => pick(words)).join(pick([' ', ' ', '']));
      const kept = keptIn(sentence);
      const parts = divide(sentence, kept, 60);
      expect(parts.map(([start, end]) => sentence.slice(start, end)).join('')).toBe(sentence);
      for (const [start, end] of parts) {
        expect(start).toBeLessThan(end);
        expect(
          kept.filter((entity) => entity.start >= start && entity.end <= end).length,
        ).toBeLessThanOrEqual(10);
        expect(kept.some((entity) => entity.start < end && end < entity.end)).toBe(false);
      }
      const asked: string[] = [];
      const [result] = await translateSentences([sentence], { maxLength: 60 }, (texts) => {
        asked.push(...texts);
        return identity(texts);
      });
      expect(result?.text).toBe(sentence.trim() && sentence);
      expect(Math.max(0, ...asked.map(({ length }) => length))).toBeLessThanOrEqual(60);
    }
  });

  test('a comma is a better place than a blank, and a blank than none', () => {
    const parts = (text: string) => divide(text, [], 30).map(([start, end]) => text.slice(start, end));
    expect(parts('one two three four five, six seven eight')).toEqual([
      'one two three four five, ',
      'six seven eight',
    ]);
    expect(parts('one two three four five six seven')).toEqual(['one two three four five six ', 'seven']);
    expect(parts('x'.repeat(70)).map(({ length }) => length)).toEqual([30, 30, 10]);
  });
});

// ---- Pass-through: realistic strings, and translators that do their worst.

const urls = [
  'https://www.example.com/shop/item?id=4711&ref=mail#top',
  'http://localhost:8080/',
  'https://de.wikipedia.org/wiki/K%C3%B6ln',
  'www.bahn.de',
  'ftp://files.example.org/pub/a.tar.gz',
  'github.com/octocat/hello-world/issues/1347',
  'https://example.org/a_(b)',
];
const emails = ['info@example.com', 'jane.doe+news@mail.example.co.uk', 'müller@beispiel.de', 'a_b@c-d.io'];
const paths = [
  '/usr/local/bin/node',
  '~/Documents/report.pdf',
  'C:\\Windows\\System32\\drivers\\etc',
  './build.sh',
  'src/main/App.tsx',
  'config.yaml',
  '../data/in.csv',
];
const codes = [
  '`git push --force`',
  'user_name',
  'foo.bar()',
  '--verbose',
  'Array::new()',
  'MAX_VALUE',
  'console.log()',
  '0xFF12',
  '`a < b`',
];
const placeholders = [
  '%s',
  '%1$s',
  '%d',
  '%(count)d',
  '{0}',
  '{name}',
  '{{ user.name }}',
  '${total}',
  '$HOME',
  '%{item}',
  '<b>',
  '</strong>',
  '&nbsp;',
  '{count, plural, one {# file} other {# files}}',
  '%.2f',
  '<br/>',
  '%%',
  ':tada:',
];
const emojis = ['😀', '🎉', '👩‍💻', '👍🏽', '🇪🇺', '❤️', '1️⃣', '✅', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '→'];
const handles = ['@octocat', '#OpenSource', '#2024goals'.slice(0, 1) + 'goals', '@jane_doe'];
const numbers = [
  '42',
  '1,234.56',
  '2.200.112',
  '244890',
  '3.14',
  '2024-05-12',
  '12.05.2024',
  '10:30',
  '+49 170 1234567',
  '5%',
  '€18.10',
  '1/2',
  '007',
  '1 234 567',
  '20th',
  '100,000,000',
  '555-1234',
  '3–5',
];
const foreign = ['Привет', '東京', 'Αθήνα', 'שלום', '⟦3⟧', '⟦'];
const kinds = { urls, emails, paths, codes, placeholders, emojis, handles, numbers, foreign };

const frames = [
  'Please open A and then check B before you continue.',
  'You can reach us at A or B.',
  'A',
  'Hello A, welcome back!',
  'A is ready.',
  'We sold A units in B days, which is more than C.',
  'Error in A: B was expected but C was found.',
  'Copy A to B.',
  'Have you seen A?',
  'The meeting about A starts at B; bring C, D and E.',
  'Your order A (B) will arrive soon: C.',
  'Thanks A',
  'A: B',
  'If A fails, try B “quoted C” again.',
  'See A, B, C, D, E, F, G, H, I, J, K and L for more.',
  'Nothing special here, but A…',
  'The new version of A costs B less than C in D.',
  'A B C are all needed',
];

function passThroughStrings(count: number) {
  const { pick } = seeded(2024);
  const all = Object.values(kinds).flat();
  return Array.from({ length: count }, (_, i) => {
    const frame = frames[i % frames.length] ?? '';
    const items: string[] = [];
    const text = frame.replace(/\b[A-L]\b/g, () => {
      const item = i < all.length && !items.length ? (all[i] ?? '') : pick(pick(Object.values(kinds)));
      items.push(item);
      return item;
    });
    return { text, items };
  });
}

const count = (text: string, part: string) => text.split(part).length - 1;
const runsOf = (text: string): string[] => text.match(/\d+/g) ?? [];
const digitsOf = (text: string) =>
  findNumbers(text)
    .map(({ digits }) => digits)
    .join(' ');

describe('pass-through', () => {
  const strings = passThroughStrings(400);

  test.each<[string, TranslateTexts]>([
    ['identity', identity],
    ['capitals', upperCase],
    ['reversed words', reverseWords],
    ['reversed words with alignment', alignedReverse],
    ['hostile', hostile(1)],
    ['another hostile', hostile(2)],
    ['and another', hostile(3)],
    ['silent', silent],
  ])('400 strings through a translator: %s', async (_, translate) => {
    const results = await translateSentences(
      strings.map(({ text }) => text),
      { language: 'en' },
      translate,
    );
    const lost: string[] = [];
    strings.forEach(({ text, items }, i) => {
      const result = results[i]?.text ?? '';
      for (const item of new Set(items)) {
        // Numbers may be written in another way, but each with the same digits.
        const there = numbers.includes(item)
          ? runsOf(item).every((run) => runsOf(result).includes(run))
          : result.includes(item);
        if (!there) lost.push(`${item} in: ${text} → ${result}`);
      }
      if (/[⟦⟧]/.test(result) && !/[⟦⟧]/.test(text)) lost.push(`a mark is left in: ${result}`);
    });
    expect(lost).toEqual([]);
  });

  test('everything masked comes back exactly once', async () => {
    for (let seed = 10; seed < 16; ++seed) {
      const results = await translateSentences(
        strings.map(({ text }) => text),
        {},
        hostile(seed),
      );
      strings.forEach(({ text }, i) => {
        const result = results[i]?.text ?? '';
        for (const { value, kind } of keptIn(text)) {
          if (kind !== 'mask')
            expect([value, text, count(result, value)]).toEqual([value, text, count(text, value)]);
        }
      });
    }
  });

  test('a faithful translator changes no number', async () => {
    const results = await translateSentences(
      strings.map(({ text }) => text),
      {},
      upperCase,
    );
    strings.forEach(({ text }, i) => {
      expect(digitsOf(results[i]?.text ?? '')).toBe(digitsOf(text));
    });
  });
});
