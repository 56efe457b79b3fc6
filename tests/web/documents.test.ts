// Whole files: which format they have, and real ones through the real package and model.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Translator } from '../../dist/node.js';
import { tokenize } from '../../dist/text/html-tokenizer.js';
import type { DocumentTranslator, Format } from '../../web/src/formats/index.js';
import { NotTextError, decodeText, detectFormat, translateDocument } from '../../web/src/formats/index.js';
import { alignedReverse, hostile, identity, seeded, upperCase } from '../package/fake-translators.js';
import { inRepository, rejection } from '../package/tiny-model.js';
import { documentTranslator, lineEnds } from './fake-document-translator.js';
import { expectLinear } from './linear.js';

const documents: Record<Format, string> = {
  text: 'letter.txt',
  html: 'page.html',
  markdown: 'guide.md',
  srt: 'story.srt',
  vtt: 'talk.vtt',
};
const formats = Object.keys(documents) as Format[];
const bytesOf = (name: string) => new Uint8Array(readFileSync(inRepository(`tests/data/documents/${name}`)));
const read = (format: Format) => decodeText(bytesOf(documents[format]));

describe('formats', () => {
  test.each(formats)('%s is known by its name, and where that can be by its content', (format) => {
    expect(detectFormat(documents[format], '')).toBe(format);
    expect(detectFormat('unknown', read(format))).toBe(format);
  });

  test.each([
    ['notes.TXT', '# Title\n\n[a](b)', 'text'],
    ['film.srt', 'WEBVTT\n\n', 'vtt'],
    ['film.vtt', '1\n00:00:01,000 --> 00:00:02,000\nx', 'srt'],
    ['film.txt', '\uFEFF1\r\n00:00:01,000 --> 00:00:02,000\r\nx', 'srt'],
    ['page', '<!-- x -->\n<!DOCTYPE html>', 'html'],
    ['README', '# Title\n\nSee [a](b).', 'markdown'],
    ['README', 'Only # one - sign.', 'text'],
    ['about.md', '<html>', 'markdown'],
    ['', '', 'text'],
  ])('%s with %j is %s', (name, text, format) => {
    expect(detectFormat(name, text)).toBe(format);
  });

  test('text in any usual encoding is read', () => {
    const text = 'Schöne Grüße – “hi”';
    expect(decodeText(new TextEncoder().encode(text))).toBe(text);
    expect(decodeText(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))).toBe('\uFEFFa');
    expect(decodeText(new Uint8Array([0xff, 0xfe, 0x61, 0, 0x62, 0]))).toBe('\uFEFFab');
    expect(decodeText(new Uint8Array([0x47, 0x72, 0xfc, 0xdf, 0x65]))).toBe('Grüße');
    expect(decodeText(new Uint8Array())).toBe('');
  });

  test.each([
    ['<meta charset="iso-8859-2">', 'Łódź', [0xa3, 0xf3, 0x64, 0xbc]],
    ['<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">', '本', [0x96, 0x7b]],
    ["<?xml version='1.0' encoding='windows-1251'?>", 'Да', [0xc4, 0xe0]],
    ['<meta charset="no-such-thing">', 'Grüße', [0x47, 0x72, 0xfc, 0xdf, 0x65]],
  ])('%s is believed', (head, text, bytes) => {
    const file = new Uint8Array([...new TextEncoder().encode(head), ...bytes]);
    expect(decodeText(file)).toBe(head + text);
  });

  test('what is not text is refused', () => {
    const { below } = seeded(1);
    const noise = Uint8Array.from({ length: 2000 }, () => below(256));
    const picture = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
    const pdf = new TextEncoder().encode('%PDF-1.7\n1 0 obj');
    for (const bytes of [noise, picture, pdf]) expect(() => decodeText(bytes)).toThrow(NotTextError);
  });
});

describe('ten times as much takes about ten times as long', () => {
  const html: [before: string, unit: string][] = [
    ['', '<!-- x -->'],
    ['', '<!--'],
    ['', '<html '],
    ['<meta charset=', ' '],
    ['translate=', ' '],
    ['', '<code><p>'],
  ];
  const markdown: [before: string, unit: string][] = [
    ['---\r\na', '\r\n'],
    ['---\ntitle: a', ' '],
    ['# a', ' '],
    ['[a](', ' '],
    ['a\n-', ' '],
    ['a', ' '],
    ['a|b\n-|-\na', '\\'],
    ['', '['],
    ['', '[a\n'],
    ['', '[^'],
    ['', '[a](b)'],
    ['['.repeat(2000), '[a](b)'],
    ['', '![a]('],
    ['', '*a_ '],
    ['', '*a** '],
    ['', '** a **'],
    ['', '- '],
    ['a ', '<!--'],
    ['|a', '|-'],
  ];
  const subtitles: [before: string, unit: string][] = [
    ['', '<i>a</i> '],
    ['', '- Hi.\n'],
    ['', 'The house. '],
    ['the a,\n\n2\n00:00:02,000 --> 00:00:03,000\n', 'b '],
    ['', 'the house is small and '],
  ];
  const cue = '1\n00:00:01,000 --> 00:00:02,000\n';
  test.each<[Format, string, [string, string][]]>([
    ['text', '', [...html, ...markdown]],
    ['html', '', html],
    ['markdown', '', [...html, ...markdown]],
    ['srt', cue, subtitles],
    ['vtt', `WEBVTT\n\n${cue}`, subtitles],
  ])(
    '%s',
    async (format, head, cases) => {
      for (const [before, unit] of cases)
        await expectLinear(before + unit, async (length) => {
          const text = `${head}${before}${unit.repeat(length / unit.length)} x`;
          detectFormat('x', text);
          await translateDocument(documentTranslator(upperCase), format, text);
        });
    },
    300_000,
  );

  test('comments, thousands of them, do not hide what follows', () => {
    const comments = '<!-- x -->\n'.repeat(10_000);
    expect(detectFormat('x', `${comments}<html>`)).toBe('html');
    expect(detectFormat('x', comments)).toBe('text');
    expect(detectFormat('x', `<!--${' x'.repeat(1_000_000)}--><!doctype html>`)).toBe('html');
    expect(detectFormat('x', `${comments}<!-- <html>`)).toBe('text');
  });
});

test('paragraphs with Windows line ends stay whole', async () => {
  const sentence = 'This is a sentence that is long enough to go on\r\nin the next line.';
  const translator = documentTranslator(identity);
  expect(await translateDocument(translator, 'text', `${sentence}\r\n\r\n${sentence}`)).toBe(
    `${sentence}\r\n\r\n${sentence}`,
  );
  expect(translator.seen[0]).toBe(sentence.replace('\r\n', ' '));
});

describe('every format', () => {
  const variants = (text: string) => [
    text,
    text.replace(/\r?\n/g, '\r\n'),
    `\uFEFF${text.replace(/^\uFEFF/, '')}`,
    text.trimEnd(),
    '',
    '\n\n',
    '\uFEFF',
  ];

  test.each(formats)('%s: without a change of words nothing changes', async (format) => {
    for (const text of variants(read(format)))
      expect(await translateDocument(documentTranslator(identity), format, text)).toBe(text);
  });

  test.each(formats)('%s: line ends, byte order mark and the end stay', async (format) => {
    for (const text of variants(read(format))) {
      const result = await translateDocument(documentTranslator(upperCase), format, text);
      expect(new Set(lineEnds(result))).toEqual(new Set(lineEnds(text)));
      expect(result.startsWith('\uFEFF')).toBe(text.startsWith('\uFEFF'));
      expect(/\s*$/.exec(result)?.[0]).toBe(/\s*$/.exec(text)?.[0]);
    }
  });

  test.each(formats)(
    '%s: files that are cut, mixed up or of another format crash nothing',
    async (format) => {
      const { below, pick } = seeded(3);
      for (let i = 0; i < 60; ++i) {
        const text = read(pick(formats));
        const source =
          text.slice(below(text.length), below(text.length)) + read(pick(formats)).slice(below(300));
        expect(await translateDocument(documentTranslator(identity), format, source)).toBe(source);
        await translateDocument(documentTranslator(hostile(i)), format, source);
      }
    },
  );

  test.each(formats)('%s: progress ends with everything, and a stop stops', async (format) => {
    const text = read(format).repeat(50);
    const steps: [number, number][] = [];
    const onProgress = (done: number, total: number) => {
      steps.push([done, total]);
    };
    await translateDocument(documentTranslator(upperCase), format, text, { onProgress });
    expect(steps.length).toBeGreaterThan(3);
    expect(steps[0]?.[0]).toBe(0);
    expect(steps.at(-1)?.[0]).toBe(steps.at(-1)?.[1]);
    expect(steps.map(([done]) => done)).toEqual(steps.map(([done]) => done).sort((a, b) => a - b));

    const stop = new AbortController();
    const stopped = translateDocument(documentTranslator(upperCase), format, text, {
      signal: stop.signal,
      onProgress: (done) => {
        if (done > 0) stop.abort();
      },
    });
    expect((await rejection(stopped)).name).toBe('AbortError');
    expect(
      (
        await rejection(
          translateDocument(documentTranslator(upperCase), format, text, { signal: stop.signal }),
        )
      ).name,
    ).toBe('AbortError');
  });

  test.each(formats)('%s: where the engine fails the text stays, and only there', async (format) => {
    const fake = documentTranslator(upperCase);
    const failing =
      <A extends [unknown, ...unknown[]], R>(work: (...args: A) => Promise<R>) =>
      (...args: A) => {
        const [input] = args;
        const text = typeof input === 'string' ? input : [...(input as string[])].join('');
        if (/important|summer|morning/.test(text))
          return Promise.reject(new DOMException('', 'OperationError'));
        return work(...args);
      };
    const translator: DocumentTranslator = {
      translate: failing(fake.translate.bind(fake)),
      translateBatch: failing(fake.translateBatch.bind(fake)),
      translateHTML: failing(fake.translateHTML.bind(fake)),
    };
    const text = read(format);
    const result = await translateDocument(translator, format, text);
    const word = /important|summer|morning/.exec(text)?.[0] ?? '';
    expect(result).toContain(word);
    expect(result).not.toBe(text);
  });
});

test('HTML in portions is HTML as a whole', async () => {
  const html = read('html').repeat(12);
  const whole = documentTranslator(alignedReverse);
  expect(await translateDocument(documentTranslator(alignedReverse), 'html', html)).toBe(
    await whole.translateHTML(html),
  );
});

test.each([
  ['<meta charset="iso-8859-1">', '<meta charset="utf-8">'],
  ['<meta content="text/html; charset=windows-1252">', '<meta content="text/html; charset=utf-8">'],
  ["<?xml encoding='latin1'?>", "<?xml encoding='utf-8'?>"],
  ['<meta charset="UTF-8">', '<meta charset="UTF-8">'],
])('HTML is written in UTF-8, and %s says so', async (before, after) => {
  const rest = '<p>The house</p><p>charset=iso-8859-1</p>';
  const translator = documentTranslator(identity);
  expect(await translateDocument(translator, 'html', before + rest)).toBe(after + rest);
});

describe('with the real model', () => {
  let translator: Translator;
  beforeAll(async () => {
    translator = await Translator.create({ model: inRepository('models/en-de/model.octavo') });
  });
  afterAll(() => {
    translator.destroy();
  });
  const translate = (format: Format) => translateDocument(translator, format, read(format));

  test('a letter', async () => {
    const [source, result] = [read('text'), await translate('text')];
    expect(result).not.toBe(source);
    expect(result).toContain('\n  * ');
    expect(result).toContain('https://example.org/book?id=12');
    expect(result.match(/\n\n/g)).toEqual(source.match(/\n\n/g));
    expect(result.endsWith('\n')).toBe(true);
  });

  test('a page', async () => {
    const [source, result] = [read('html'), await translate('html')];
    const tags = (html: string) =>
      tokenize(html)
        .filter(({ kind }) => kind !== 'text')
        .map(({ raw }) => raw.replace(/ (?:alt|title|lang)="[^"]*"/g, ''))
        .sort();
    expect(result).not.toBe(source);
    expect(tags(result)).toEqual(tags(source));
    expect(result).toContain('<html lang="de">');
  });

  test('a guide in Markdown', async () => {
    const [source, result] = [read('markdown'), await translate('markdown')];
    expect(result).not.toBe(source);
    for (const kept of [
      'date: 2024-05-01\ntags: [garden, tools]\n',
      '](https://example.org/trees_a "',
      '][rules]',
      '[^1]',
      '\n- [x] ',
      '\n- [ ] ',
      '\n  1. ',
      '\n> ',
      '-: |\n| ',
      '`garden --depth 50`',
      '```sh\n# this comment is code and stays\ngarden --depth 50 | tee "the hole.txt"\n```',
      '\n    indented code stays, too\n',
      '<div align="center">\n  <img src="tree.png" alt="',
      '<kbd>Ctrl</kbd>',
      '$A = \\pi r^2$',
      '\n[rules]: /rules.html "',
      '\n[^1]: ',
    ])
      expect(result).toContain(kept);
    expect(result.match(/^#+ /gm)).toEqual(source.match(/^#+ /gm));
    expect(result.match(/\*\*|<\/?strong>/g)).toHaveLength(4);
  });

  test.each(['srt', 'vtt'] as const)('subtitles: %s', async (format) => {
    const [source, result] = [read(format), await translate(format)];
    const frame = (text: string) => text.match(/^(?:\d+|.*-->.*|WEBVTT.*|NOTE.*|intro|answer)\r?$/gm);
    expect(result).not.toBe(source);
    expect(frame(result)).toEqual(frame(source));
    const tags = /<[^<>]*>|\{[^{}]*\}/g;
    expect(result.match(tags)).toEqual(source.match(tags));
    const cues = result
      .replace(tags, '')
      .split(/\r?\n\r?\n/)
      .filter((block) => block.includes('-->'));
    for (const cue of cues) {
      const lines = cue
        .split(/\r?\n/)
        .slice(cue.split(/\r?\n/).findIndex((line) => line.includes('-->')) + 1);
      expect(lines.join('').length).toBeGreaterThan(0);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(42);
    }
    expect(result.match(/^(?:<i>)?- /gm)).toEqual(source.match(/^(?:<i>)?- /gm));
  });
});
