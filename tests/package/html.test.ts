import { describe, expect, test } from '@jest/globals';
import { translateElement } from '../../dist/text/dom.js';
import { translateHTML } from '../../dist/text/html.js';
import { tokenize } from '../../dist/text/html-tokenizer.js';
import type { TranslateTexts } from '../../dist/text/translate.js';
import {
  alignedReverse,
  hostile,
  identity,
  reverseWords,
  seeded,
  silent,
  upperCase,
} from './fake-translators.js';
import { MiniDocument, serialize } from './mini-dom.js';

const html = (text: string, translate: TranslateTexts = upperCase) => translateHTML(text, {}, translate);
const tagsOf = (text: string) =>
  tokenize(text)
    .filter(({ kind }) => kind === 'start' || kind === 'end' || kind === 'comment')
    .map(({ raw }) => raw)
    .sort();

describe('text is translated, markup is not', () => {
  test.each([
    ['plain', 'Hello world', 'HELLO WORLD'],
    ['a paragraph', '<p>Hello</p>', '<p>HELLO</p>'],
    [
      'blocks',
      '<h1>One</h1>\n<ul>\n <li>Two\n <li>Three</ul>',
      '<h1>ONE</h1>\n<ul>\n <li>TWO\n <li>THREE</ul>',
    ],
    ['inline', '<p>A <b>bold</b> word</p>', '<p>A <b>BOLD</b> WORD</p>'],
    ['nested', '<p>So <i>very <b>much</b></i> fun</p>', '<p>SO <i>VERY <b>MUCH</b></i> FUN</p>'],
    ['around everything', '<p><b><i>All of it.</i></b></p>', '<p><b><i>ALL OF IT.</i></b></p>'],
    ['two sentences', '<p>One <b>a</b>. Two <i>b</i>.</p>', '<p>ONE <b>A</b>. TWO <i>B</i>.</p>'],
    ['across sentences', '<p>One <b>two. Three</b> four.</p>', '<p>ONE <b>TWO. THREE</b> FOUR.</p>'],
    ['links', '<a href="/a?b=c&d=e">Go on</a> now', '<a href="/a?b=c&d=e">GO ON</a> NOW'],
    ['an image', 'See <img src="x.png"> here', 'SEE <img src="x.png"> HERE'],
    ['code', 'Run <code>npm i</code> now', 'RUN <code>npm i</code> NOW'],
    ['a line break', 'One.<br>Two.<br/>three', 'ONE.<br>TWO.<br/>THREE'],
    ['a line break in a sentence', 'This is<br>one sentence.', 'THIS IS<br> ONE SENTENCE.'],
    ['a comment', 'Some <!-- not this --> text', 'SOME <!-- not this --> TEXT'],
    ['entities', 'Tom &amp; Jerry &lt;3 &eacute;t&eacute; &#8364;5', 'TOM & JERRY &lt;3 ÉTÉ €5'],
    ['an entity that is needed', 'AT&amp;T &copy; x &amp;lt; y', 'AT&amp;T © X &amp;lt; Y'],
    [
      'unknown entities',
      'Some &nosuch; text &CounterClockwiseContourIntegral; here',
      'SOME &nosuch; TEXT &CounterClockwiseContourIntegral; HERE',
    ],
    ['old entities', '&copy 2024 by me', '© 2024 BY ME'],
    ['non-breaking blanks', 'Five&nbsp;euros', 'FIVE&nbsp;EUROS'],
    ['blanks', '<p>\n  Hello\n   <b>big</b>\n world\n</p>', '<p>\n  HELLO <b>BIG</b> WORLD\n</p>'],
    ['a signs', 'if 1 < 2 then', 'IF 1 &lt; 2 THEN'],
    [
      'tables',
      '<table><tr><td>One</td><td>Two <b>x</b></td></tr></table>',
      '<table><tr><td>ONE</td><td>TWO <b>X</b></td></tr></table>',
    ],
    ['the title', '<head><title>A &amp; b</title></head>', '<head><title>A & B</title></head>'],
    [
      'a document',
      '<!DOCTYPE html>\n<html lang="en"><body>Hi</body></html>',
      '<!DOCTYPE html>\n<html lang="en"><body>HI</body></html>',
    ],
    [
      'options',
      '<select><option value="a">One<option>Two</select>',
      '<select><option value="a">ONE<option>TWO</select>',
    ],
    ['a URL', '<p>See https://a.bc/d for more</p>', '<p>SEE https://a.bc/d FOR MORE</p>'],
    ['an empty element', 'An <i class="icon"></i> icon', 'AN <i class="icon"></i> ICON'],
    ['numbers only', '<td>12.5</td><td>→</td>', '<td>12.5</td><td>→</td>'],
    ['capital tags', '<P>Hi <B>you</B></P>', '<P>HI <B>YOU</B></P>'],
    [
      'links without blanks between them',
      '<nav><a href=1>Home</a><a href=2>About us</a><a href=3>2</a><a href=4>More</a></nav>',
      '<nav><a href=1>HOME</a><a href=2>ABOUT US</a><a href=3>2</a><a href=4>MORE</a></nav>',
    ],
    [
      'labels',
      '<label>A name <input></label><label>An age</label>',
      '<label>A NAME <input></label><label>AN AGE</label>',
    ],
    [
      'indices and footnotes',
      '<p>A m<sup>2</sup> of H<sub>2</sub>O.<sup><a href="#1">[1]</a></sup> And so<sup>b</sup> on.</p>',
      '<p>A M<sup>2</sup> OF H<sub>2</sub>O.<sup><a href="#1">[1]</a></sup> AND SO<sup>b</sup> ON.</p>',
    ],
  ])('%s', async (_, source, expected) => {
    expect(await html(source)).toBe(expected);
  });

  test.each([
    ['script', '<script>let a = "text"; if (a<b) x();</script>'],
    ['style', '<style>p { content: "text" }</style>'],
    ['pre', '<pre>Some text\n  here</pre>'],
    ['textarea', '<textarea>Some <b>text</textarea>'],
    ['svg', '<svg viewBox="0 0 1 1"><text>Text</text></svg>'],
    ['math', '<math><mi>x</mi><mo>=</mo></math>'],
    ['kbd, samp, var', '<kbd>Enter</kbd> <samp>text</samp> <var>name</var>'],
    ['translate="no"', '<p translate="no">Some <b>text</b>.</p>'],
    ['translate=no', '<span translate=no>Some text</span>'],
    ['notranslate', '<div class="a notranslate b"><p title="Text">Text</p></div>'],
    ['an iframe', '<iframe src="x">Some text</iframe>'],
    ['a template of nothing', '<div>  </div><br><hr>'],
    ['a comment', '<!-- Some text -->'],
    ['CDATA', '<![CDATA[ Some <b> text ]]>'],
    ['a processing instruction', '<?xml version="1.0" text="x"?>'],
  ])('left alone: %s', async (_, source) => {
    expect(await html(source)).toBe(source);
    expect(await html(`<p>Hi</p>${source}<p>you</p>`)).toBe(`<p>HI</p>${source}<p>YOU</p>`);
  });

  test.each([
    [
      'an item',
      '<ul><li translate=no>One<li>two</ul><p>three</p>',
      '<ul><li translate=no>One<li>TWO</ul><p>THREE</p>',
    ],
    [
      'an item with a list',
      '<ul><li translate=no>One<ul><li>two</ul>three<li>four</ul>five',
      '<ul><li translate=no>One<ul><li>two</ul>three<li>FOUR</ul>FIVE',
    ],
    [
      'a cell',
      '<table><tr><td class=notranslate>One<td>two<tr><td>three</table>four',
      '<table><tr><td class=notranslate>One<td>TWO<tr><td>THREE</table>FOUR',
    ],
    ['a paragraph', '<p translate=no>One<p>two', '<p translate=no>One<p>TWO'],
    ['the last one', '<div><p translate=no>One</div>two', '<div><p translate=no>One</div>TWO'],
    ['a word', '<p>One <b><i translate=no>two</b> three</p>', '<p>ONE <b><i translate=no>two</b> THREE</p>'],
  ])('left alone without an end tag: %s', async (_, source, expected) => {
    expect(await html(source)).toBe(expected);
  });

  test.each([
    [
      'of an empty element',
      '<textarea placeholder="Say it"></textarea>',
      '<textarea placeholder="SAY IT"></textarea>',
    ],
    [
      'of a frame',
      '<p>A <iframe title="The map"></iframe></p>',
      '<p>A <iframe title="THE MAP"></iframe></p>',
    ],
    ['alt', '<img alt="A cat" src="cat.png">', '<img alt="A CAT" src="cat.png">'],
    ['title', "<a title='Go to it' href=x>go</a>", "<a title='GO TO IT' href=x>GO</a>"],
    ['placeholder', '<input placeholder="Your name">', '<input placeholder="YOUR NAME">'],
    ['aria-label', '<button aria-label=Close>x</button>', '<button aria-label="CLOSE">X</button>'],
    ['submit', '<input type="submit" value="Send it">', '<input type="submit" value="SEND IT">'],
    [
      'not other values',
      '<input value="Some text" name="title text">',
      '<input value="Some text" name="title text">',
    ],
    ['quotation marks', '<p title="say &quot;hi&quot; &amp; go">', '<p title="SAY &quot;HI&quot; & GO">'],
    ['lines', '<p title="One.\n\nTwo.">', '<p title="ONE.\n\nTWO.">'],
    ['two at once', '<img title="One" alt="Two two">', '<img title="ONE" alt="TWO TWO">'],
    ['only the first of a name', '<img alt="One" alt="Two">', '<img alt="ONE" alt="Two">'],
    ['none where there is none', '<img alt title="" src=x>', '<img alt title="" src=x>'],
    ['not with translate="no"', '<img alt="One" translate="no">', '<img alt="One" translate="no">'],
    [
      'not scripts',
      '<p onclick="alert(\'title\')" data-title="a b">',
      '<p onclick="alert(\'title\')" data-title="a b">',
    ],
  ])('attributes: %s', async (_, source, expected) => {
    expect(await html(source)).toBe(expected);
  });
});

describe('tags follow their words', () => {
  test.each([
    ['a word', '<p>One <b>two</b> three.</p>', '<p>THREE <b>TWO</b> ONE.</p>'],
    ['several', 'One <b>two three</b> four <i>five</i>.', '<i>FIVE</i> FOUR <b>THREE TWO</b> ONE.'],
    ['nested', 'One <a href="x">two <b>three</b></a> four.', 'FOUR <a href="x"><b>THREE</b> TWO</a> ONE.'],
    ['at the edges', '<b>One</b> two <i>three</i>.', '<i>THREE</i> TWO <b>ONE</b>.'],
    ['punctuation stays out', 'Say <b>one</b>, two.', 'TWO , <b>ONE</b> SAY.'],
    ['objects', 'Run <code>x y</code> in <b>this</b> way.', 'WAY <b>THIS</b> IN <code>x y</code> RUN.'],
    [
      'several sentences',
      '<p>One <b>two</b> three. Four <i>five</i> six.</p>',
      '<p>THREE <b>TWO</b> ONE. SIX <i>FIVE</i> FOUR.</p>',
    ],
    [
      'half an element',
      '<p>One <b>two. Three</b> four five.</p>',
      expect.stringMatching(/^<p>.*<b>.*<\/b>.*<\/p>$/),
    ],
    [
      'with protected things',
      'See <a href="/x">https://a.bc</a> and {name} <b>now</b>.',
      '<b>NOW</b> {name} AND <a href="/x">https://a.bc</a> SEE.',
    ],
  ])('%s', async (_, source, expected) => {
    expect(await html(source, alignedReverse)).toEqual(expected);
  });

  test('a long list of links is divided, lest a model that soon has enough leave links empty', async () => {
    const links = Array.from({ length: 40 }, (_, i) => `<a href="/${String(i)}">link</a>`);
    const lazy: TranslateTexts = (texts) =>
      Promise.resolve(texts.map((text) => text.split(' ').slice(0, 15).join(' ').toUpperCase()));
    const result = await html(`<p>${links.join(', ')} and <b>so</b> on.</p>`, lazy);
    expect(result.match(/>LINK</g)).toHaveLength(40);
  });

  test('without alignment marks tell where they belong', async () => {
    const german: TranslateTexts = (texts) =>
      Promise.resolve(
        texts.map((text) =>
          text.includes('⟦')
            ? text.replace(/^Please click (⟦0⟧ )here( ⟦1⟧) now\.$/, 'Bitte jetzt ⟦0⟧ hier ⟦1⟧ klicken.')
            : 'Bitte jetzt hier klicken.',
        ),
      );
    expect(await html('Please click <a href="x">here</a> now.', german)).toBe(
      'Bitte jetzt <a href="x">hier</a> klicken.',
    );
  });

  test('without alignment or marks they stand at the same height, around the same words', async () => {
    const forgetful: TranslateTexts = (texts) => Promise.resolve(texts.map(() => 'Eins Berlin zwei drei.'));
    expect(await html('One two <b>Berlin</b> three.', forgetful)).toBe('Eins <b>Berlin</b> zwei drei.');
  });

  test('where nothing is clear, a word is a better place than a full stop', async () => {
    const unclear: TranslateTexts = () =>
      Promise.resolve([
        {
          text: 'Trink Wasser.',
          alignment: {
            source: [
              [0, 5],
              [6, 11],
              [11, 12],
            ],
            target: [
              [0, 5],
              [6, 12],
              [12, 13],
            ],
            weights: [
              [9, 0, 0],
              [9, 3, 0],
              [6, 3, 0],
            ],
          },
        },
      ]);
    expect(await html('Drink <a href="x">water</a>.', unclear)).toBe('Trink <a href="x">Wasser</a>.');
  });
});

const hostileMarkup = [
  '<img src=x onerror=alert(1)>',
  '<img src=x onerror="alert(1)" alt="Nice &quot;onload=alert(1)">',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '<a href="javascript:alert(1)">Click me</a>',
  '<a href="unterminated>text here',
  '<a href=\'unterminated>text "here',
  '<p title="a>b">Text</p>',
  '<!-- unterminated comment <b>text',
  '<!-->Text<!--->more',
  '<!-- a --!> text',
  '<!-- <!-- nested --> text -->',
  '<p>Null \0 byte <b\0>x</b\0></p>',
  '</p> stray <b>text',
  '</b>Text</i>',
  '<b><i>Text</b></i> more',
  '<p><b>One<p>Two</b>Three',
  '<b>Bold <div>block</div> text</b>',
  '<a><a><a>Text',
  '<',
  '<<',
  '<>',
  '</>',
  '< p>',
  '<p',
  '<p ',
  '</p',
  '</ p>',
  'a<b',
  'a < b > c',
  '<b>text<',
  '<3 you',
  '1<2 & 3>2',
  '&',
  '&&',
  '&#',
  '&#x',
  '&#0;',
  '&#xD800;',
  '&#99999999999;',
  '&amp',
  '&ampx;',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '<p =x>Text',
  '<p "x">Text',
  '<p x=>Text',
  '<p x="1"y="2">Text',
  '<p/>Text',
  '<br/ >Text',
  '<br / x>Text',
  '<p\n\tclass\n=\n"x"\n>Text</p\n>',
  '<p a=`b`>Text</p>',
  '<script>alert("</p>")',
  '<script>a</scriptx>b</script >Text',
  '<style><!-- </style> -->Text',
  '<textarea><b>Text',
  '<title>Text <b>not bold</b>',
  '<title>Text',
  '<plaintext><b>Text',
  '<xmp><b></xmp>Text',
  '<noscript><b>Text</noscript>',
  '<svg><style/><p>Text</p></svg>Text',
  '<svg/>Text',
  '<svg><svg></svg>Text',
  '<math><mtext><b>x</math>Text',
  '<![CDATA[text',
  '<!DOCTYPE',
  '<?php echo "text"; ?>Text',
  '<% if %>Text',
  '{{#if}}<p>Text</p>{{/if}}',
  '<table><b>Text<tr>x',
  '<select><b>Text</select>',
  '<p><code>open <b>text</p><p>More text</p>',
  '<span translate="no">open text<p>More text</p>',
  '<div translate=no>open <p>text</p>',
  '<p>⟦0⟧ <b>⟦1⟧</b> text ⟦</p>',
  '<b></b><i></i>',
  '<p>￼ <code>x</code> ￼ text</p>',
  '<p>One <!-- c --><b><!-- d --></b> two</p>',
  'One <wbr>two su<wbr>per',
  '<b>One</b><b>two</b><i>three</i>',
  'un<b>believ</b>able text',
  '<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby> text',
  '\ufeff<p>Text',
  '<b>\ud800 text \udc00</b>',
  '<p>' + 'word '.repeat(400) + '<b>x</b></p>',
];

describe('hostile and broken markup', () => {
  const translators: [string, TranslateTexts][] = [
    ['capitals', upperCase],
    ['reversed', reverseWords],
    ['aligned', alignedReverse],
    ['hostile', hostile(5)],
    ['silent', silent],
    [
      'one that writes tags',
      (texts) =>
        Promise.resolve(texts.map((text) => `<script>alert(1)</script> ${text} "'><img src=x> &lt;b> <`)),
    ],
  ];

  test.each(hostileMarkup)('%j', async (source) => {
    expect(
      tokenize(source)
        .map(({ raw }) => raw)
        .join(''),
    ).toBe(source);
    expect(await html(source, identity)).toBe(source);
    for (const [, translate] of translators) {
      const result = await html(source, translate);
      // No tag more, no tag less; only attributes for people may differ.
      const plain = (text: string) =>
        tagsOf(text).map((tag) => tag.replace(/ (?:alt|title)=("[^"]*"|'[^']*'|[^\s>]*)/g, ''));
      expect(plain(result)).toEqual(plain(source));
    }
  });

  test('no text gets lost', async () => {
    // Sorted, for a tag inside a word goes to its edge.
    const letters = (text: string) =>
      Array.from(text.replace(/&lt;/g, '<').replace(/&amp;/g, '&').replace(/\s/g, '').toLowerCase())
        .sort()
        .join('');
    for (const source of hostileMarkup) {
      if (!source.includes('&')) expect(letters(await html(source))).toBe(letters(source));
    }
  });

  test.each([
    ['nested', '<b>'.repeat(10_000) + 'Some text' + '</b>'.repeat(10_000)],
    ['nested with text', '<i>a '.repeat(10_000) + 'text' + '</i>'.repeat(10_000)],
    ['nested blocks', '<div>'.repeat(10_000) + 'Some text' + '</div>'.repeat(10_000)],
    ['unclosed', '<b>x '.repeat(10_000)],
    ['stray', 'x</b> '.repeat(10_000)],
    ['mixed', '<b>x</i> '.repeat(5_000) + '<code>'.repeat(5_000)],
    ['signs', '<'.repeat(10_000) + '&'.repeat(10_000) + '<!--'.repeat(5_000)],
  ])('ten thousand tags, %s, take a moment', async (_, source) => {
    const start = performance.now();
    const result = await html(source, alignedReverse);
    expect(tagsOf(result)).toEqual(tagsOf(source));
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  test('random markup', async () => {
    const { below, pick } = seeded(6);
    const parts = [
      ...[
        '<b>',
        '</b>',
        '<i>',
        '</i>',
        '<a href="x">',
        '</a>',
        '<p>',
        '</p>',
        '<br>',
        '<img src=x alt="A b">',
        '<code>',
        '</code>',
        '<!-- c -->',
        '<div translate=no>',
        '</div>',
      ],
      ...[
        'Hello',
        'world.',
        'Dr. No',
        'one two',
        '&amp;',
        '&lt;',
        '&nbsp;',
        '5,000',
        'https://a.bc',
        '{x}',
        '😀',
        ' ',
        '\n',
        '<',
        '"',
      ],
    ];
    const translate = hostile(9);
    for (let i = 0; i < 400; ++i) {
      const source = Array.from({ length: below(25) }, () => pick(parts) + pick(['', ' '])).join('');
      expect(await html(source, identity)).toBe(source);
      for (const translator of [upperCase, alignedReverse, translate]) {
        const result = await html(source, translator);
        expect([source, tagsOf(result).map((tag) => tag.replace(/alt="[^"]*"/, ''))]).toEqual([
          source,
          tagsOf(source).map((tag) => tag.replace(/alt="[^"]*"/, '')),
        ]);
        expect(tagsInOrder(result)).toBe(tagsInOrder(source) && tagsInOrder(result));
      }
    }
  });
});

/** Whether the tags nest; what nested before must nest after. */
function tagsInOrder(text: string): boolean {
  const open: string[] = [];
  for (const token of tokenize(text)) {
    if (token.kind === 'start' && !/^(?:br|img)$/.test(token.name)) open.push(token.name);
    if (token.kind === 'end' && open.pop() !== token.name) return false;
  }
  return !open.length;
}

describe('a live document', () => {
  const translated = async (source: string, translate: TranslateTexts = upperCase) => {
    const document = new MiniDocument(source);
    await translateElement(document.body as unknown as Node, {}, translate);
    return serialize(document.body);
  };

  test.each([
    '<p>Hello <b>big</b> world. It is <i>so <a href="x">nice</a></i>!</p>',
    '<div title="A title">Text<p>One</p>two <img alt="An image"></div><pre>Text</pre>',
    '<p>Run <code>npm i</code> <span translate="no">Some text</span> now</p><ul><li>One</li><li>Two</li></ul>',
    '<a href="x"><div>Block</div> text</a><p>One.<br>Two</p><script>let a;</script>',
    '<p>One <b>two</b> three.</p>',
    '<nav><a href="x">Home</a><a href="y">About us</a></nav><p>A m<sup>2</sup> or <sup>so much</sup>.</p>',
  ])('%s is translated as the string is', async (source) => {
    const expected = (text: string, translate: TranslateTexts) => html(text, translate);
    for (const translate of [identity, upperCase, alignedReverse]) {
      expect(await translated(source, translate)).toBe(await expected(source, translate));
    }
  });

  test('a text by itself is translated', async () => {
    const document = new MiniDocument('<p>One <b>two</b></p>');
    const paragraph = document.body.childNodes[0];
    const texts = [paragraph?.childNodes[0], paragraph?.childNodes[1]?.childNodes[0]];
    for (const text of texts) await translateElement(text as unknown as Node, {}, upperCase);
    expect(serialize(document.body)).toBe('<p>ONE <b>TWO</b></p>');
  });

  test('nodes stay the same, also where they move', async () => {
    const document = new MiniDocument('<p>One <a href="x">two</a> <b>three</b>.</p>');
    const before = document.all();
    await translateElement(document.body as unknown as Node, {}, alignedReverse);
    expect(serialize(document.body)).toBe('<p><b>THREE</b> <a href="x">TWO</a> ONE.</p>');
    expect(new Set(document.all())).toEqual(new Set(before));
  });

  test('what changes in the meantime is left alone', async () => {
    const document = new MiniDocument('<p>One</p><p>Two</p>');
    const change: TranslateTexts = (texts) => {
      const text = document.body.childNodes[0]?.childNodes[0];
      if (text) text.data = 'Changed';
      return upperCase(texts);
    };
    await translateElement(document.body as unknown as Node, {}, change);
    expect(serialize(document.body)).toBe('<p>Changed</p><p>TWO</p>');
  });
});
