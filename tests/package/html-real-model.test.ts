// HTML with the real model: markup stays whole and around words, whatever the model makes of them.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Translator } from '../../dist/node.js';
import { isVoid } from '../../dist/text/elements.js';
import { type TagToken, tokenize } from '../../dist/text/html-tokenizer.js';
import { realModel } from './real-model.js';

let translator: Translator;
beforeAll(async () => {
  translator = await Translator.create({ model: realModel });
});
afterAll(() => {
  translator.destroy();
});

const tagsOf = (html: string) =>
  tokenize(html).filter((token): token is TagToken => token.kind === 'start' || token.kind === 'end');

/** A tag without the values that are translated. */
const written = ({ raw }: TagToken) =>
  raw.replace(/\s(alt|title|placeholder|aria-label)=("[^"]*"|'[^']*'|[^\s>]+)/g, ' $1');

/** The end tags that close nothing, and the start tags that nothing closes. */
function loose(html: string): string[] {
  const open: string[] = [];
  const problems: string[] = [];
  for (const { kind, name, selfClosing } of tagsOf(html)) {
    if (isVoid(name) || selfClosing) continue;
    if (kind === 'start') open.push(name);
    else if (open.pop() !== name) problems.push(`</${name}>`);
  }
  return [...problems, ...open];
}

/** Elements with nothing in them. */
const hollow = (html: string) => html.match(/<(\w+)[^>]*>\s*<\/\1>/g) ?? [];

describe('whole', () => {
  let changed = 0;
  test.each([
    ['bold', '<p>The <b>old house</b> is very small.</p>'],
    ['a link', '<p>Read <a href="/guide?a=1&amp;b=2#x">the guide</a> before you start.</p>'],
    ['nested', '<p>This is <i>really <b>very</b> good</i> news for <u>all of us</u>.</p>'],
    ['code', '<p>Run <code>npm install --save</code> and then open <code>index.html</code>.</p>'],
    ['line breaks', '<address>My Street 12<br>10115 Berlin<br>Call us today.</address>'],
    ['a list', '<ul><li>Bread and <em>butter</em></li><li>A bottle of <b>water</b></li></ul>'],
    ['a table', '<table><tr><th>Name</th><th>Price</th></tr><tr><td>Tea</td><td>2.50</td></tr></table>'],
    ['attributes', '<img src="a.png" alt="A red car"><input placeholder="Your name" title="Type here">'],
    ['not translated', '<p>The brand <span translate="no">Big Red Shoe</span> is known everywhere.</p>'],
    [
      'script and style',
      '<style>p { color: red }</style><p>Hello</p><script>if (a < b) run("go on");</script>',
    ],
    ['preformatted', '<p>An example:</p><pre>let  it   be;\n  as it is</pre>'],
    ['several sentences', '<p>One <b>day. The next</b> day was better. <i>Nobody</i> came.</p>'],
    ['a picture', '<p>Press <img src="ok.svg"> to save your <b>work</b>.</p>'],
    ['entities', '<p>Tom &amp; Anna ate fish &lt;3 and paid &euro;5&nbsp;each.</p>'],
    [
      'a document',
      '<!DOCTYPE html><html lang="en"><head><title>My page</title></head><body><h1>Hi</h1></body></html>',
    ],
    ['deep', `<p>${'<span>'.repeat(40)}It is late now.${'</span>'.repeat(40)}</p>`],
    [
      'many tags',
      `<p>${Array.from({ length: 20 }, (_, i) => `<b>word</b> and <a href="/${String(i)}">more</a>`).join(' ')}.</p>`,
    ],
    [
      'placeholders',
      '<p>Hello <b>{name}</b>, you have <i>%d</i> new messages from <a href="#">{sender}</a>.</p>',
    ],
    [
      'a form',
      '<form><label>Your e-mail <input type="email"></label><button>Send the <b>form</b></button></form>',
    ],
    [
      'a long one',
      `<p>${'When the sun came up, the <b>old man</b> went down to the <a href="/sea">sea</a> and looked at the boats, '.repeat(8)}and left.</p>`,
    ],
  ])('%s', async (_, html) => {
    const result = await translator.translateHTML(html);
    expect(tagsOf(result).map(written).sort()).toEqual(tagsOf(html).map(written).sort());
    expect(loose(result)).toEqual([]);
    expect(hollow(result)).toEqual(hollow(html));
    expect(result).not.toMatch(/[⟦⟧\uFFFC]/u);
    for (const kept of html.match(/<(code|pre|script|style)>.*?<\/\1>|translate="no">[^<]*/gs) ?? [])
      expect(result).toContain(kept);
    for (const kept of html.match(/\{\w+\}|%d|\b\d+\b(?![^<]*>)/g) ?? []) expect(result).toContain(kept);
    if (result !== html) ++changed;
  });

  // A word such as "Name" may stay what it is.
  test('nearly all of them are translated', () => {
    expect(changed).toBeGreaterThan(10);
  });
});

describe('not whole', () => {
  test.each([
    '<p>One <b>two <i>three</b> four</i> five.',
    '<p>Never <a href="x">closed',
    '</div>Closed <b>too often</b></b></p>',
    '<p>A lonely < sign and a cut <a href="tag',
    '<b>Nobody <p>nests <i>like</b> this</p>.</i>',
    '<img alt="<b>no tag</b>" src=x onerror=alert(1)>And text.',
    '<svg><script>alert(1)</script></svg><p onclick="steal()">Click <b>here</b>.</p>',
    '<!-- <p>not this</p> -->But this &notanentity; one.',
  ])('%s', async (html) => {
    const result = await translator.translateHTML(html);
    expect(tagsOf(result).map(written).sort()).toEqual(tagsOf(html).map(written).sort());
    for (const comment of html.match(/<!--.*?-->/gs) ?? []) expect(result).toContain(comment);
  });
});
