// The package and the page's file formats on arbitrary input. A quick, always equal part runs with the other tests;
// `npm run fuzz` takes its time and other input every time.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Translator } from '../../dist/node.js';
import { translateHTML } from '../../dist/text/html.js';
import { tokenize } from '../../dist/text/html-tokenizer.js';
import { splitSentences } from '../../dist/text/sentences.js';
import { translateText } from '../../dist/text/translate.js';
import {
  type Format,
  NotTextError,
  decodeText,
  detectFormat,
  translateDocument,
} from '../../web/src/formats/index.js';
import { hostile, identity } from '../package/fake-translators.js';
import { inRepository } from '../package/tiny-model.js';
import { documentTranslator } from '../web/fake-document-translator.js';

const minutes = Number(process.env.OCTAVO_FUZZ_MINUTES ?? 0);
let properties = 0;
let executions = 0;

/** What was found: the property and the input for which it did not hold. It is tried first from then on. */
interface Finding {
  property: string;
  input: unknown;
}

const outsideJSON = 'not in JSON';
const corpus = inRepository('tests/fuzz/corpus/package');
const findings = readdirSync(corpus).map(
  (name) => JSON.parse(readFileSync(join(corpus, name), 'utf8'), unpacked) as Finding,
);

/** Writes in JSON what has no form of its own there; texts may be anything, since lone surrogates are escaped. */
const packed = (_: string, value: unknown) =>
  value === undefined || (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    ? { [outsideJSON]: Object.is(value, -0) ? '-0' : String(value) }
    : value;

function unpacked(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(outsideJSON in value)) return value;
  const written = value[outsideJSON];
  return written === 'undefined' ? undefined : Number(written);
}

/** Tests that something holds for all input: for a while, or a fixed number of times. */
function holds<Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  check: (input: Input) => Promise<void> | void,
  runs = 200,
): void {
  ++properties;
  const run = async () => {
    const property = fc.asyncProperty(input, async (given) => {
      ++executions;
      await check(given);
    });
    const examples = findings
      .filter((finding) => finding.property === name)
      .map((finding): [Input] => [finding.input as Input]);
    const interruptAfterTimeLimit = (minutes * 60_000) / properties;
    const details = await fc.check(
      property,
      minutes > 0
        ? { examples, numRuns: 1e9, interruptAfterTimeLimit, markInterruptAsFailure: false }
        : { examples, numRuns: examples.length + runs, seed: 8 },
    );
    if (!details.failed) return;
    if (minutes > 0 && details.counterexample) {
      const finding = JSON.stringify({ property: name, input: details.counterexample[0] }, packed, 2);
      const hash = createHash('sha256').update(finding).digest('hex').slice(0, 12);
      writeFileSync(join(corpus, `${name.replace(/\W+/g, '-')}-${hash}.json`), `${finding}\n`);
    }
    throw new Error(await fc.asyncDefaultReportMessage(details));
  };
  test(name, run, minutes * 60_000 + 60_000);
}

/** Anything that a JavaScript string can hold. */
const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  // Halves of characters too, which the other does not make.
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
    .map((units) => String.fromCharCode(...units)),
);
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
    '<!-- x -->',
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
const formats: readonly Format[] = ['text', 'html', 'markdown', 'srt', 'vtt'];
const format = fc.constantFrom(...formats);
const bytes = fc
  .tuple(
    fc.array(fc.oneof(markup, lines, text), { maxLength: 20 }).map((parts) => parts.join('')),
    fc.array(fc.integer({ min: 0, max: 0xff }), { maxLength: 20 }),
    fc.constantFrom('text first', 'text last', 'text only'),
  )
  .map(([source, others, order]) => {
    const written = Array.from(new TextEncoder().encode(source));
    if (order === 'text only') return written;
    return order === 'text first' ? [...written, ...others] : [...others, ...written];
  });

describe('fuzzing the care for text', () => {
  holds('sentences put together are the text', text, (source) => {
    expect(
      splitSentences(source)
        .map((piece) => piece.text)
        .join(''),
    ).toBe(source);
  });

  holds('no model, however bad, breaks a text', fc.tuple(text, fc.nat()), async ([source, seed]) => {
    const { text: result, sentences } = await translateText(source, {}, hostile(seed));
    for (const { target } of sentences) expect(target[1]).toBeLessThanOrEqual(result.length);
  });

  holds('no markup and no model change the tags', fc.tuple(html, fc.nat()), async ([source, seed]) => {
    expect(tagsOf(await translateHTML(source, {}, hostile(seed)))).toEqual(tagsOf(source));
  });

  holds(
    'files that are not changed come back as they were',
    fc.tuple(format, file),
    async ([kind, source]) => {
      if (kind === 'html') return; // entities and blanks may be written in another way
      expect(await translateDocument(documentTranslator(identity), kind, source)).toBe(source);
    },
  );

  holds(
    'no file and no model are too much',
    fc.tuple(format, file, fc.nat()),
    async ([kind, source, seed]) => {
      expect(typeof (await translateDocument(documentTranslator(hostile(seed)), kind, source))).toBe(
        'string',
      );
    },
  );

  holds(
    'bytes are text of some format, or refused',
    fc.tuple(fc.constantFrom('x', 'x.txt', 'x.srt'), bytes),
    ([name, given]) => {
      const content = Uint8Array.from(given);
      let source: string;
      try {
        source = decodeText(content);
      } catch (error) {
        expect(error).toBeInstanceOf(NotTextError);
        return;
      }
      if (isUtf8(content)) expect(Array.from(new TextEncoder().encode(source))).toEqual(given);
      expect(formats).toContain(detectFormat(name, source));
    },
  );
});

describe('fuzzing the translator', () => {
  // Two of them: each remembers its sentences, and would only repeat what it has said.
  let translator: Translator;
  let other: Translator;
  beforeAll(async () => {
    const model = inRepository('tests/data/version-1.octavo');
    [translator, other] = await Promise.all([Translator.create({ model }), Translator.create({ model })]);
  });
  afterAll(() => {
    translator.destroy();
    other.destroy();
    const report = process.env.OCTAVO_FUZZ_REPORT;
    if (report) writeFileSync(report, JSON.stringify({ executions }));
  });

  holds(
    'every text has a translation, alone and in company',
    fc.array(text, { minLength: 1, maxLength: 3 }),
    async (sources) => {
      const short = sources.map((source) => source.slice(0, 80));
      const together = await translator.translateBatch(short);
      for (const [i, source] of short.entries()) {
        // In parts first, since afterwards it is remembered.
        const parts = [];
        for await (const part of other.translateStreaming(source)) parts.push(part);
        expect(parts.join('')).toBe(together[i]);
        expect(await other.translate(source)).toBe(together[i]);
      }
    },
    30,
  );

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
  holds(
    'options are taken or refused, and the translator works on',
    options,
    async (given) => {
      const outcome = await translator.translate('The house.', given as object).then(
        (result) => typeof result === 'string' || Array.isArray((result as { sentences: unknown }).sentences),
        (error: unknown) => error instanceof RangeError || error instanceof TypeError,
      );
      expect(outcome).toBe(true);
      expect(await translator.translate('a')).not.toBe('');
    },
    60,
  );
});
