// The package and the page's file formats on arbitrary input. A quick, always equal part runs with the other tests;
// `npm run fuzz` takes its time and other input every time.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Translator } from '../../dist/node.js';
import { translateHTML } from '../../dist/text/html.js';
import { tokenize } from '../../dist/text/html-tokenizer.js';
import { splitSentences } from '../../dist/text/sentences.js';
import { translateText } from '../../dist/text/translate.js';
import { type Format, translateDocument } from '../../web/src/formats/index.js';
import { hostile, identity } from '../package/fake-translators.js';
import { inRepository } from '../package/tiny-model.js';
import { documentTranslator } from '../web/fake-document-translator.js';

const minutes = Number(process.env.OCTAVO_FUZZ_MINUTES ?? 0);
const properties = 7;
const milliseconds = (minutes * 60_000) / properties;
let executions = 0;

/** Checks that something holds for all input: for a while, or a fixed number of times. */
async function holds<Input>(
  input: fc.Arbitrary<Input>,
  check: (input: Input) => Promise<void>,
  runs = 200,
): Promise<void> {
  const property = fc.asyncProperty(input, async (given) => {
    ++executions;
    await check(given);
  });
  await fc.assert(
    property,
    minutes > 0
      ? { numRuns: 1e9, interruptAfterTimeLimit: milliseconds, markInterruptAsFailure: false }
      : { numRuns: runs, seed: 8 },
  );
}
const timeout = milliseconds + 60_000;

/** Anything that a JavaScript string can hold. */
const anything = fc.string({ unit: 'binary', maxLength: 60 });
/** What real text is made of, where it is not words. */
const special = fc.constantFrom(
  ...'⟦0⟧ ⟦ ⟧ \uFFFC %s %(name)s {0} {{name}} $VAR ${x} https://example.org/a?b=1#c a.b@c.de C:\\x /usr/bin'.split(
    ' ',
  ),
  ...'12,5 1.234.567 3:05 2024-05-06 § € 👩‍👩‍👧 🇩🇪 e\u0301 \u202E \u200D \u0000 \uD800 \r\n \n\n\t `x` … „“ Dr. z. B.'.split(
    ' ',
  ),
);
const words = fc.constantFrom('The', 'house', 'is', 'small', '.', '!', 'e.g.', 'A', '-', ',', ' ', '\n', 'ß');
const text = fc.array(fc.oneof(words, special, anything), { maxLength: 40 }).map((parts) => parts.join(' '));

/** Markup, more often broken than not. */
const names = fc.constantFrom(
  'b',
  'a',
  'p',
  'div',
  'script',
  'style',
  'pre',
  'br',
  'img',
  'td',
  'svg',
  'title',
  'x-y',
);
const attribute = fc
  .tuple(fc.constantFrom('alt', 'title', 'href', 'translate', 'onclick', 'placeholder', '/'), text)
  .map(([name, value]) => ` ${name}="${value.slice(0, 20)}"`);
const markup = fc.oneof(
  fc.tuple(names, fc.option(attribute, { nil: '' })).map(([name, more]) => `<${name}${more}>`),
  names.map((name) => `</${name}>`),
  fc.constantFrom(
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<!DOCTYPE html>',
    '<',
    '>',
    '</',
    '<a href=',
    "'",
    '"',
    '&',
    '&amp;',
  ),
  fc.constantFrom(
    '&lt;script&gt;',
    '&#0;',
    '&#x110000;',
    '&nbsp',
    '<b',
    '<b/',
    '</ b>',
    '<?php ?>',
    '<p translate=no>',
  ),
);
const html = fc.array(fc.oneof(markup, text), { maxLength: 30 }).map((parts) => parts.join(''));
const tagsOf = (source: string) =>
  tokenize(source)
    .filter(({ kind }) => kind === 'start' || kind === 'end')
    .map((token) => ('name' in token ? `${token.kind} ${token.name}` : ''))
    .sort();

/** Lines of all the formats of files, in any order. */
const lines = fc.constantFrom(
  ...[
    '# Title',
    '- item',
    '1. one',
    '> quote',
    '```',
    '    code',
    '| a | b |',
    '|---|:-:|',
    '---',
    '[a](b "c")',
    '![x](y)',
  ],
  ...[
    '[^1]: note',
    '<div>',
    '**bold *both* text**',
    '`code`',
    '1',
    '00:00:01,000 --> 00:00:02,000',
    'WEBVTT',
    'NOTE x',
  ],
  ...[
    '00:01.000 --> 00:02.000 align:start',
    '<i>Hello',
    '{\\an8}there</i>',
    '- Hi.',
    '- Ho!',
    'STYLE',
    '',
    '',
    '\t',
    '\uFEFF',
  ],
);
const file = fc
  .tuple(fc.array(fc.oneof(lines, text), { maxLength: 40 }), fc.constantFrom('\n', '\r\n', '\r'))
  .map(([parts, end]) => parts.join(end));
const format = fc.constantFrom<Format>('text', 'html', 'markdown', 'srt', 'vtt');

describe('fuzzing the care for text', () => {
  test(
    'sentences put together are the text',
    async () => {
      await holds(text, async (source) => {
        expect(
          splitSentences(source)
            .map((piece) => piece.text)
            .join(''),
        ).toBe(source);
        return Promise.resolve();
      });
    },
    timeout,
  );

  test(
    'no model, however bad, breaks a text',
    async () => {
      await holds(fc.tuple(text, fc.nat()), async ([source, seed]) => {
        const { text: result, sentences } = await translateText(source, {}, hostile(seed));
        for (const { target } of sentences) expect(target[1]).toBeLessThanOrEqual(result.length);
      });
    },
    timeout,
  );

  test(
    'no markup and no model change the tags',
    async () => {
      await holds(fc.tuple(html, fc.nat()), async ([source, seed]) => {
        expect(tagsOf(await translateHTML(source, {}, hostile(seed)))).toEqual(tagsOf(source));
      });
    },
    timeout,
  );

  test(
    'files that are not changed come back as they were',
    async () => {
      await holds(fc.tuple(format, file), async ([kind, source]) => {
        if (kind === 'html') return; // entities and blanks may be written in another way
        expect(await translateDocument(documentTranslator(identity), kind, source)).toBe(source);
      });
    },
    timeout,
  );

  test(
    'no file and no model are too much',
    async () => {
      await holds(fc.tuple(format, file, fc.nat()), async ([kind, source, seed]) => {
        expect(typeof (await translateDocument(documentTranslator(hostile(seed)), kind, source))).toBe(
          'string',
        );
      });
    },
    timeout,
  );
});

describe('fuzzing the translator', () => {
  let translator: Translator;
  beforeAll(async () => {
    translator = await Translator.create({ model: inRepository('tests/data/version-1.octavo') });
  });
  afterAll(() => {
    translator.destroy();
    const report = process.env.OCTAVO_FUZZ_REPORT;
    if (report) writeFileSync(report, JSON.stringify({ executions }));
  });

  test(
    'every text has a translation, alone and in company',
    async () => {
      await holds(
        fc.array(text, { minLength: 1, maxLength: 3 }),
        async (sources) => {
          const short = sources.map((source) => source.slice(0, 80));
          const together = await translator.translateBatch(short);
          for (const [i, source] of short.entries()) {
            expect(await translator.translate(source)).toBe(together[i]);
            const parts = [];
            for await (const part of translator.translateStreaming(source)) parts.push(part);
            expect(parts.join('')).toBe(together[i]);
          }
        },
        30,
      );
    },
    timeout,
  );

  test(
    'options are taken or refused, and the translator works on',
    async () => {
      const value = fc.oneof(
        fc.integer(),
        fc.double(),
        fc.boolean(),
        fc.constant(undefined),
        fc.constant(null),
        fc.string(),
      );
      const options = fc.record({
        beam: fc.oneof(fc.integer({ min: 1, max: 4 }), value),
        alternatives: fc.oneof(fc.integer({ min: 1, max: 4 }), value),
        alignment: value,
        confidence: value,
        glossary: fc.oneof(fc.constant(undefined), fc.dictionary(anything, anything, { maxKeys: 3 })),
        doNotTranslate: fc.oneof(fc.constant(undefined), fc.array(anything, { maxLength: 3 })),
      });
      await holds(
        options,
        async (given) => {
          const outcome = await translator.translate('The house.', given as object).then(
            (result) =>
              typeof result === 'string' || Array.isArray((result as { sentences: unknown }).sentences),
            (error: unknown) => error instanceof RangeError || error instanceof TypeError,
          );
          expect(outcome).toBe(true);
          expect(await translator.translate('a')).not.toBe('');
        },
        60,
      );
    },
    timeout,
  );
});
