// Subtitles: sentences are translated as a whole and divided over their cues; times, numbers and tags stay.
import { describe, expect, test } from '@jest/globals';
import type { TranslateTexts } from '../../dist/text/translate.js';
import { translateDocument } from '../../web/src/formats/index.js';
import { divideText, longestLine, wrapText } from '../../web/src/formats/subtitle-lines.js';
import { alignedReverse, hostile, identity, seeded, silent, upperCase } from '../package/fake-translators.js';
import { documentTranslator } from './fake-document-translator.js';

const srt = (text: string, translate: TranslateTexts = upperCase) =>
  translateDocument(documentTranslator(translate), 'srt', text);
const vtt = (text: string, translate: TranslateTexts = upperCase) =>
  translateDocument(documentTranslator(translate), 'vtt', text);

/** A file of cues, one second each, without pauses between them. */
const cues = (...texts: string[]) =>
  texts
    .map((text, i) => `${String(i + 1)}\n00:00:0${String(i)},000 --> 00:00:0${String(i)},999\n${text}\n`)
    .join('\n');

describe('what stays', () => {
  test.each([
    ['numbers and times', cues('Hello.'), cues('HELLO.')],
    ['lines', cues('Hello there.\nHow are you?'), cues('HELLO THERE. HOW ARE YOU?')],
    ['italics', cues('<i>Hello.</i>'), cues('<i>HELLO.</i>')],
    ['italics over lines', cues('<i>Hello there,\nmy friend.</i>'), cues('<i>HELLO THERE, MY FRIEND.</i>')],
    ['positions', cues('{\\an8}Hello.'), cues('{\\an8}HELLO.')],
    ['both', cues('{\\an8}<i>Hello.</i>'), cues('{\\an8}<i>HELLO.</i>')],
    ['dashes', cues('- Hello?\n- Who is it?'), cues('- HELLO?\n- WHO IS IT?')],
    ['dashes in italics', cues('<i>- Hello?\n- Who?</i>'), cues('<i>- HELLO?\n- WHO?</i>')],
    ['names', cues('MARY ANN: Hello.'), cues('MARY ANN: HELLO.')],
    ['sounds', cues('[door opens]\nhello.'), cues('[DOOR OPENS]\nHELLO.')],
    ['music', cues('♪ la la la ♪'), cues('♪ LA LA LA ♪')],
    [
      'fonts',
      cues('<font color="#ff0000">Hello</font> you.'),
      cues('<font color="#ff0000">HELLO</font> YOU.'),
    ],
    ['signs that are no tags', cues('I <3 you & 1 < 2.'), cues('I <3 YOU & 1 < 2.')],
    ['a blank line inside', cues('One.\n\nTwo.'), cues('ONE.\n\nTWO.')],
    ['a cue without text', cues('', 'Hello.'), cues('', 'HELLO.')],
    ['no final line end', cues('Hello.').trimEnd(), cues('HELLO.').trimEnd()],
    [
      'points instead of commas',
      '1\n0:00:01.5 --> 0:00:02.5\nhi you\n',
      '1\n0:00:01.5 --> 0:00:02.5\nHI YOU\n',
    ],
    ['what is no subtitle', 'just some text\n\nhere', 'just some text\n\nhere'],
    ['an empty file', '', ''],
  ])('%s', async (_, source, target) => {
    expect(await srt(source)).toBe(target);
  });

  test('everything else in WebVTT', async () => {
    const text = (a: string, b: string, c: string) =>
      `WEBVTT - title\n\nSTYLE\n::cue { color: red }\n\nNOTE a note\nover lines\n\nfirst\n00:01.000 --> 00:02.000 line:0 align:start\n<v Tom>${a}</v>\n\nREGION\nid:x\n\n00:00:03.000 --> 00:00:04.000\n${b}\n\nno cue\n\n00:05.000 --> 00:06.000\n${c}`;
    expect(await vtt(text('Hello.', '<c.red>You</c> &amp; me &lt;3', 'Bye.'))).toBe(
      text('HELLO.', '<c.red>YOU</c> &amp; ME &lt;3', 'BYE.'),
    );
  });

  test('line ends and the byte order mark', async () => {
    const source = `\uFEFF${cues('Hello there, this is a rather long line\nthat has to be wrapped.', 'Two.')}`;
    const windows = source.replace(/\n/g, '\r\n');
    const result = await srt(windows);
    expect(result).toBe((await srt(source)).replace(/\n/g, '\r\n'));
    expect(result).toMatch(/^\uFEFF1\r\n00/);
  });
});

describe('sentences over cues', () => {
  const seenIn = async (...texts: string[]) => {
    const translator = documentTranslator(upperCase);
    await translateDocument(translator, 'srt', cues(...texts));
    return translator.seen;
  };

  test('are seen as a whole', async () => {
    expect(await seenIn('I would like to', 'go to London.')).toEqual(['I would like to go to London.']);
    expect(await seenIn('When I was in', 'London, I', 'met her. Yes.')).toEqual([
      'When I was in London, I met her.',
      'Yes.',
    ]);
    expect(await seenIn('I was...', '...thinking.')).toEqual(['I was... ...thinking.']);
  });

  test('but not what does not belong together', async () => {
    expect(await seenIn('One is here.', 'Two is there.')).toEqual(['One is here.', 'Two is there.']);
    expect(await seenIn('I was', '- Stop it!')).toEqual(['I was', 'Stop it!']);
    expect(await seenIn('THE END', 'Thank you')).toEqual(['THE END', 'Thank you']);
    const late = '1\n00:00:01,000 --> 00:00:02,000\nI was\n\n2\n00:01:01,000 --> 00:01:02,000\nthinking\n';
    const translator = documentTranslator(upperCase);
    await translateDocument(translator, 'srt', late);
    expect(translator.seen).toEqual(['I was', 'thinking']);
  });

  test('are divided in proportion', async () => {
    expect(await srt(cues('I would like to', 'go to London. Yes.'))).toBe(
      cues('I WOULD LIKE TO', 'GO TO LONDON. YES.'),
    );
    expect(divideText('one two three four five six', [2, 1])).toEqual(['one two three four', 'five six']);
    expect(divideText('so, one two three four', [1, 1])).toEqual(['so, one two', 'three four']);
    expect(divideText('when it rains, we stay at home', [1, 1])).toEqual([
      'when it rains,',
      'we stay at home',
    ]);
    expect(divideText('a b', [1, 1, 1])).toEqual(['a', 'b', '']);
    expect(divideText('', [1, 1])).toEqual(['', '']);
  });

  test('tags follow their words', async () => {
    expect(await srt(cues('The <i>big</i> house.'), alignedReverse)).toBe(cues('HOUSE <i>BIG</i> THE.'));
  });
});

test('lines are short and balanced', () => {
  expect(wrapText('Short enough.')).toBe('Short enough.');
  expect(wrapText('This is a line that is too long for one, so it has two.')).toBe(
    'This is a line that is too long for one,\nso it has two.',
  );
  const { below } = seeded(1);
  for (let i = 0; i < 300; ++i) {
    const words = Array.from({ length: 1 + below(30) }, () => 'x'.repeat(1 + below(14)));
    const lines = wrapText(words.join(' ')).split('\n');
    expect(lines.join(' ')).toBe(words.join(' '));
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(longestLine);
  }
  expect(wrapText(`${'x'.repeat(60)} y`)).toBe(`${'x'.repeat(60)}\ny`);
});

describe('whatever the file and the model do', () => {
  const pieces = [
    '1',
    '\n',
    '\n\n',
    '\r\n',
    '00:00:01,000 --> 00:00:02,000',
    '00:01.000 --> 00:02.000 align:start',
    'WEBVTT',
    'NOTE',
    'STYLE',
    '-->',
    '<i>',
    '</i>',
    '<v Tom>',
    '<00:01.000>',
    '{\\an8}',
    '- ',
    'Hello there.',
    'and so',
    ' ',
    '&amp;',
    '&',
    '<',
    '♪',
    '...',
    'JOHN: ',
    '[x]',
    '\u0000',
    '\ufeff',
  ];
  const random = (seed: number) => {
    const { below, pick } = seeded(seed);
    return Array.from({ length: 1 + below(50) }, () => pick(pieces)).join('');
  };

  test('a file in which no word changes stays as it is, to the letter', async () => {
    for (let seed = 0; seed < 1500; ++seed) {
      const source = random(seed);
      expect(await srt(source, identity)).toBe(source);
      expect(await vtt(source, identity)).toBe(source);
    }
  });

  test('cues, times and tags stay', async () => {
    const kept = (text: string) => text.match(/^.*-->.*$|\{\\an8\}|<\/?i>/gm) ?? [];
    for (let seed = 0; seed < 600; ++seed) {
      const source = random(seed).replace(/\0/g, '');
      for (const translate of [upperCase, alignedReverse, hostile(seed), silent]) {
        const result = await srt(source, translate);
        expect(kept(result).sort()).toEqual(kept(source).sort());
      }
    }
  });
});
