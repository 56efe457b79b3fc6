// Markdown: words are translated, and everything else stays.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { marked } from 'marked';
import type { TranslateTexts } from '../../dist/text/translate.js';
import { translateDocument } from '../../web/src/formats/index.js';
import { parseInline } from '../../web/src/formats/markdown-inline.js';
import { alignedReverse, hostile, identity, seeded, silent, upperCase } from '../package/fake-translators.js';
import { inRepository } from '../package/tiny-model.js';
import { documentTranslator } from './fake-document-translator.js';

const markdown = (text: string, translate: TranslateTexts = upperCase) =>
  translateDocument(documentTranslator(translate), 'markdown', text);

describe('blocks', () => {
  test.each([
    ['a paragraph', 'Hello world', 'HELLO WORLD'],
    ['headings', '# One\n\n## Two ##\n### Three {#three}\n', '# ONE\n\n## TWO ##\n### THREE {#three}\n'],
    ['underlined headings', 'One\n===\n\nTwo\n---\n', 'ONE\n===\n\nTWO\n---\n'],
    ['an empty heading', '#\n\nText', '#\n\nTEXT'],
    ['a bullet list', '- one\n* two\n+ three\n', '- ONE\n* TWO\n+ THREE\n'],
    ['a numbered list', '1. one\n2) two\n', '1. ONE\n2) TWO\n'],
    ['nested lists', '- one\n  - two\n\n    more\n', '- ONE\n  - TWO\n\n    MORE\n'],
    ['tasks', '- [ ] open\n- [x] done\n', '- [ ] OPEN\n- [x] DONE\n'],
    ['quotations', '> one\n> > two\n', '> ONE\n> > TWO\n'],
    ['an alert', '> [!NOTE]\n> Take care.\n', '> [!NOTE]\n> TAKE CARE.\n'],
    ['rules', 'a\n\n---\n\n* * *\n\nb', 'A\n\n---\n\n* * *\n\nB'],
    ['fenced code', 'See:\n\n```js\nlet text;\n```\n\nDone', 'SEE:\n\n```js\nlet text;\n```\n\nDONE'],
    ['tildes', '~~~\ncode\n```\nmore\n~~~\ntext', '~~~\ncode\n```\nmore\n~~~\nTEXT'],
    ['code that never ends', '```\ncode\n\nmore code', '```\ncode\n\nmore code'],
    ['code in a list', '- one\n\n  ```\n  code\n  ```\n- two', '- ONE\n\n  ```\n  code\n  ```\n- TWO'],
    ['code that ends with its list', '- ```\n  code\ntext', '- ```\n  code\nTEXT'],
    ['indented code', 'Text\n\n    code here\n\nmore', 'TEXT\n\n    code here\n\nMORE'],
    ['indented code in a list', '- one\n\n      code\n', '- ONE\n\n      code\n'],
    ['indented text is no code', 'Text that goes\n    on here', 'TEXT THAT GOES ON HERE'],
    ['formulas', 'Text\n\n$$\nx = y\n$$\n\nmore', 'TEXT\n\n$$\nx = y\n$$\n\nMORE'],
    ['definitions', '[a]: /url\n[b]: <x y> "A title"\n\nText', '[a]: /url\n[b]: <x y> "A TITLE"\n\nTEXT'],
    [
      'footnotes',
      'Text[^1].\n\n[^1]: The note.\n\n    More.\n',
      'TEXT[^1].\n\n[^1]: THE NOTE.\n\n    MORE.\n',
    ],
    ['a definition list', 'Word\n: Meaning\n', 'WORD\n: MEANING\n'],
    ['a comment', '<!-- not\n\nthis -->\n\nbut this', '<!-- not\n\nthis -->\n\nBUT THIS'],
    ['scripts', '<script>\nlet a;\n\nb\n</script>\n\nx y', '<script>\nlet a;\n\nb\n</script>\n\nX Y'],
    ['HTML', '<div title="t">\n<b>bold</b> x\n</div>\n\ny', '<div title="T">\n<b>BOLD</b> X\n</div>\n\nY'],
    [
      'details',
      '<details>\n<summary>Sum</summary>\n\nText\n\n</details>',
      '<details>\n<summary>SUM</summary>\n\nTEXT\n\n</details>',
    ],
    ['HTML in a quotation', '> <p>\n> text</p>\n\nx', '> <p>\n> TEXT</p>\n\nX'],
    ['a definition over two lines', '[a b]\n\n[a b]:\n  /url\n', '[A B][a b]\n\n[a b]:\n  /url\n'],
    ['what only looks like a task', '- \\[ ] open it\n', '- \\[ ] OPEN IT\n'],
    ['directives', ':::tip\nText\n:::\n', ':::tip\nTEXT\n:::\n'],
  ])('%s', async (_, source, target) => {
    expect(await markdown(source)).toBe(target);
  });

  test('tables', async () => {
    const source = 'Text\n\n| A | `b | c` |\n|:--|:-:|\n| one | two \\| three |\n| | **x** |\n\nafter | all';
    const target = 'TEXT\n\n| A | `b | c` |\n|:--|:-:|\n| ONE | TWO \\| THREE |\n| | **X** |\n\nAFTER | ALL';
    // The pipe in code divides cells, too, so that the head has three of them and there is no table.
    expect(await markdown(source.replace('`b | c`', '`b`'))).toBe(target.replace('`b | c`', '`b`'));
    expect(await markdown('One | two\n--- | ---\nthree | four\n')).toBe(
      'ONE | TWO\n--- | ---\nTHREE | FOUR\n',
    );
    expect(await markdown('> | a b |\n> |---|\n> | c d |\n')).toBe('> | A B |\n> |---|\n> | C D |\n');
  });

  test('aligned tables are aligned again', async () => {
    const longer: TranslateTexts = (texts) => Promise.resolve(texts.map((text) => `${text}${text}`));
    const source = '| A   | b  |\r\n|-----|---:|\r\n| cde | fg |\r\n';
    const target = '| AA     |   bb |\r\n| ------ | ---: |\r\n| cdecde | fgfg |\r\n';
    expect(await markdown(source, longer)).toBe(target);
    expect(await markdown('| A | b |\n|--|--|\n| c | d |\n', longer)).toBe(
      '| AA | bb |\n|--|--|\n| cc | dd |\n',
    );
  });

  test('front matter: titles, but nothing else', async () => {
    const head = '---\ntitle: Hello world # no\ndate: 2024-01-01\ntags: [one, two]\n---\n';
    expect(await markdown(`${head}Text`)).toBe(`${head}TEXT`);
    const yaml = '---\ntitle: Hello\ndescription: "A \\"b\\" c"\nsummary: \'x y\'\nlayout: post\n---\n';
    const upper = '---\ntitle: HELLO\ndescription: "A \\"B\\" C"\nsummary: \'X Y\'\nlayout: post\n---\n';
    expect(await markdown(yaml)).toBe(upper);
    expect(await markdown('+++\ntitle = "Hello"\n+++\ntext')).toBe('+++\ntitle = "HELLO"\n+++\nTEXT');
    const colon: TranslateTexts = (texts) => Promise.resolve(texts.map((text) => `${text}: x`));
    expect(await markdown('---\ntitle: Hello\n---\n', colon)).toBe('---\ntitle: "Hello: x"\n---\n');
    expect(await markdown('---\n\nNot data\n\n---\n')).toBe('---\n\nNOT DATA\n\n---\n');
  });

  test('wrapped paragraphs are wrapped again, with their prefixes', async () => {
    const longer: TranslateTexts = (texts) =>
      Promise.resolve(texts.map((text) => text.replace(/\w+/g, '$&$&')));
    const line = 'word '.repeat(9).trim();
    const result = await markdown(`> - ${line}\n>   ${line}\n>   end.\n`, longer);
    const lines = result.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(3);
    expect(lines[0]).toMatch(/^> - \w/);
    for (const own of lines) expect(own.length).toBeLessThanOrEqual(4 + 44);
    for (const own of lines.slice(1)) expect(own).toMatch(/^> {3}\w/);
  });

  test('lines that end with sentences stay lines', async () => {
    expect(await markdown('The first one.\nThe second one.\n')).toBe('THE FIRST ONE.\nTHE SECOND ONE.\n');
  });
});

describe('inline markup', () => {
  test.each([
    [
      'emphasis',
      'so *very* **strong** _and_ __more__ ~~less~~',
      'SO *VERY* **STRONG** _AND_ __MORE__ ~~LESS~~',
    ],
    ['nested', '***all** of it*', '***ALL** OF IT*'],
    ['code', 'run `npm i` and ``a `b` c`` now', 'RUN `npm i` AND ``a `b` c`` NOW'],
    ['links', 'see [the *page*](</a b> "My title") now', 'SEE [THE *PAGE*](</a b> "MY TITLE") NOW'],
    ['parentheses in links', 'a [b](/c_(d)) e', 'A [B](/c_(d)) E'],
    ['images', 'x ![an image](a_b.png) y', 'X ![AN IMAGE](a_b.png) Y'],
    ['badges', '[![the build](a.svg)](https://x.org)', '[![THE BUILD](a.svg)](https://x.org)'],
    ['autolinks', 'at <https://x.org/a_b> or me@x.org', 'AT <https://x.org/a_b> OR me@x.org'],
    ['addresses', 'at https://x.org/a_b_c. Go', 'AT https://x.org/a_b_c. GO'],
    ['HTML', 'press <kbd>Ctrl</kbd> <b class="x">now</b>', 'PRESS <kbd>Ctrl</kbd> <b class="x">NOW</b>'],
    ['escapes', 'not \\*this\\* 1 * 2 a_b', 'NOT \\*THIS\\* 1 * 2 a_b'],
    ['entities', 'Tom &amp; Jerry &copy; AT&T', 'TOM & JERRY © AT&T'],
    ['entities that are needed', 'write &amp;copy; or &lt;b>', 'WRITE \\&copy; OR \\<b>'],
    ['formulas', 'if $x_1 = 2$ for $5 and $6', 'IF $x_1 = 2$ FOR $5 AND $6'],
    ['brackets', 'it [sic] is', 'IT [SIC] IS'],
    ['a hard break', 'one  \ntwo\\\nthree', 'ONE  \nTWO\\\nTHREE'],
    ['an exclamation before a link', 'look\\![a b](c)', 'LOOK! [A B](c)'],
  ])('%s', async (_, source, target) => {
    expect(await markdown(source)).toBe(target);
  });

  test('reference links keep their label', async () => {
    const source =
      'See [the page][p], [Home][] and [About us], not [this].\n\n[p]: /p\n[home]: /h\n[about us]: /a\n';
    const target =
      'SEE [THE PAGE][p], [HOME][Home] AND [ABOUT US][About us], NOT [THIS].\n\n[p]: /p\n[home]: /h\n[about us]: /a\n';
    expect(await markdown(source)).toBe(target);
  });

  test('markup follows its words', async () => {
    expect(await markdown('The **big** house is [old](/o).', alignedReverse)).toBe(
      '[OLD](/o) IS HOUSE **BIG** THE.',
    );
    expect(await markdown('Take `x` and *go*.', alignedReverse)).toBe('*GO* AND `x` TAKE.');
  });

  test('a link stays around its code', async () => {
    const source = 'Use [`Reader`](#r) and **`x`** or [`Writer`][] now.\n\n[`Writer`]: #w\n';
    const target = 'NOW [`Writer`][] OR **`x`** AND [`Reader`](#r) USE.\n\n[`Writer`]: #w\n';
    expect(await markdown(source, alignedReverse)).toBe(target);
  });

  test('a translation cannot make markup', async () => {
    const evil =
      (result: string): TranslateTexts =>
      (texts) =>
        Promise.resolve(texts.map(() => result));
    const plain = (text: string) =>
      parseInline(text, new Set()).every(({ kind }) => kind === 'text' || kind === 'newline');
    for (const text of [
      '- x',
      '# x',
      '1. x',
      '> x',
      '*x*',
      '__x__',
      '[a](b)',
      '`x`',
      '---',
      '~~x~~',
      '+ a',
      '\\',
    ]) {
      const result = await markdown('Some words', evil(text));
      expect([text, plain(result)]).toEqual([text, true]);
      expect([text, /^(?:[-+*>#]|\d+\.)(?:\s|$)|^-+$/.test(result)]).toEqual([text, false]);
    }
    expect(await markdown('| a b |\n|--|\n| c d |', evil('x | y'))).toBe('| x \\| y |\n|--|\n| x \\| y |');
  });
});

describe('another reader of Markdown sees the same structure before and after', () => {
  const structure = (text: string) =>
    marked
      .parse(text.replace(/^---\n[^]*?\n---\n/, ''), { async: false })
      .replace(/ (?:title|alt)="[^"]*"/g, '')
      .match(/<[^>]*>/g);

  test.each(['README.md', 'engine/README.md', 'models/README.md', 'tests/data/documents/guide.md'])(
    '%s',
    async (name) => {
      const source = readFileSync(inRepository(name), 'utf8');
      const result = await markdown(source);
      expect(result).not.toBe(source);
      expect(structure(result)).toEqual(structure(source));
    },
  );

  test('of pieces put together at random', async () => {
    const inline = [
      'so *very* good',
      '**a b** and `c d`',
      '[the link](/x "t")',
      'one_two three',
      '~~gone~~ now',
      'a \\* b',
      '![pic of it](y.png)',
      '<b>bold</b> x',
      '2 * 3',
      '***both** of it*',
      'see [ref][r]',
      '_a_ (b)',
      '&copy; by me',
      'x <y@z.org> w',
    ];
    const blocks = ['# ', '### ', '- ', '- [x] ', '1. ', '> ', '> - ', '  ', '', '', ''];
    for (let seed = 0; seed < 400; ++seed) {
      const { below, pick } = seeded(seed);
      const words = () =>
        Array.from({ length: 1 + below(4) }, () => pick(inline)).join(pick([' ', ' ', ', ', '\n']));
      const parts = Array.from({ length: 1 + below(6) }, () => {
        const start = pick(blocks);
        return (start + words()).replace(
          /\n/g,
          /^[#]/.test(start) ? ' ' : `\n${start.replace('[x] ', '').replace(/[^>]/g, ' ')}`,
        );
      });
      const source = [
        ...parts,
        '| a b | c |\n|--|:-:|\n| *d e* | `f` |',
        '```\n# code\n```',
        '[r]: /ref',
      ].join('\n\n');
      expect(structure(await markdown(source))).toEqual(structure(source));
    }
  });
});

describe('whatever the document and the model do', () => {
  const pieces = [
    '# ',
    '- ',
    '> ',
    '1. ',
    '    ',
    '\t',
    '\n',
    '\n\n',
    '\r\n',
    '```',
    '~~~',
    '`',
    '*',
    '**',
    '_',
    '~~',
    '[',
    ']',
    '(',
    ')',
    '![',
    '](x)',
    '[a]: b',
    '[^1]',
    '|',
    '|--|',
    '---',
    '===',
    '<b>',
    '</b>',
    '<div>',
    '<!--',
    '-->',
    '<script>',
    '&amp;',
    '&',
    '\\',
    '$',
    '$$',
    'word',
    ' ',
    'Some words here.',
    ':::',
    '  \n',
    '<',
    '\u00a0',
    '😀',
    '\ufeff',
    '<oct-1>',
  ];
  const random = (seed: number) => {
    const { below, pick } = seeded(seed);
    return Array.from({ length: 1 + below(40) }, () => pick(pieces)).join('');
  };

  test('a document in which no word changes stays as it is, to the letter', async () => {
    for (let seed = 0; seed < 1500; ++seed) {
      const source = random(seed);
      expect(await markdown(source, identity)).toBe(source);
    }
  });

  test('nothing is lost: code, targets, structure', async () => {
    for (let seed = 0; seed < 600; ++seed) {
      const source = `${random(seed)}\n\n\`\`\`\ncode ${String(seed)}\n\`\`\`\n`;
      for (const translate of [upperCase, alignedReverse, hostile(seed), silent]) {
        const result = await markdown(source, translate);
        expect(result.endsWith(source.slice(-4))).toBe(true);
      }
    }
  });

  test('long nonsense takes no long time', async () => {
    const start = performance.now();
    for (const piece of ['[', ']', '*a', '`', '<', '![', '[a](', '> ', '- ', '&', '_a_', '<!--', '|', '$a_'])
      await markdown(piece.repeat(5000), identity);
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});
