// Translates a part of a live document. Nodes are moved, never made anew: listeners and references stay.
import { type Role, isIndex, isTranslatable, isUntranslated, roleOf, textAttributes } from './elements.js';
import type { Block } from './inline.js';
import { translateBlocks } from './inline.js';
import type { InlineToken } from './plain.js';
import type { TranslateOptions, TranslateTexts } from './translate.js';

/** Running text in a document: neighbours below one parent. */
interface Run {
  parent: Node;
  /** The neighbours, and the text nodes in and below them. */
  nodes: Node[];
  tokens: InlineToken<Node>[];
}

interface AttributeJob {
  element: Element;
  name: string;
  text: string;
}

/** Translates the text below a node, and its attributes, in place. What changes meanwhile is left alone. */
export async function translateElement(
  root: Node,
  options: TranslateOptions,
  translate: TranslateTexts,
): Promise<void> {
  const runs: Run[] = [];
  const attributes: AttributeJob[] = [];
  collect(root, runs, attributes);
  const texts = attributes.map(({ text }): Block<Node> => ({
    tokens: [{ kind: 'text', text }],
    lines: true,
  }));
  const results = await translateBlocks([...runs, ...texts], options, translate);
  runs.forEach((run, i) => {
    if (isAsBefore(run)) write(run, results[i] ?? []);
  });
  attributes.forEach(({ element, name, text }, i) => {
    const translation = textOf(results[runs.length + i] ?? []);
    if (translation !== text && element.getAttribute(name) === text) element.setAttribute(name, translation);
  });
}

const isElement = (node: Node): node is Element => node.nodeType === 1;
const isText = (node: Node): node is Text => node.nodeType === 3;
const reader = (element: Element) => (name: string) => element.getAttribute(name);
const roleOfNode = (element: Element): Role => {
  const role = roleOf(element.localName, reader(element));
  return role === 'inline' && isIndex(element.localName, element.textContent) ? 'object' : role;
};
const textOf = (tokens: readonly InlineToken<Node>[]) =>
  tokens.map((token) => (token.kind === 'text' ? (token.raw ?? token.text) : '')).join('');

/** Finds the running texts and the attributes below a node. */
function collect(root: Node, runs: Run[], attributes: AttributeJob[]) {
  if (isText(root)) {
    const { parentNode: parent, data: text } = root;
    if (parent) runs.push({ parent, nodes: [root], tokens: [{ kind: 'text', text }] });
    return;
  }
  const containers = new Map<Node, boolean>();
  const waiting: Node[] = [root];
  if (isElement(root)) {
    const role = roleOfNode(root);
    if (role !== 'block' && role !== 'inline') return;
    attributes.push(...attributesOf(root));
  }
  for (let parent = waiting.shift(); parent; parent = waiting.shift()) {
    let run: Run = { parent, nodes: [], tokens: [] };
    const end = () => {
      if (run.tokens.some(({ kind }) => kind === 'text')) runs.push(run);
      run = { parent: run.parent, nodes: [], tokens: [] };
    };
    for (const child of Array.from(parent.childNodes)) {
      if (isElement(child) && isContainer(child, containers)) {
        end();
        const role = roleOfNode(child);
        if (role === 'kept') continue;
        attributes.push(...attributesOf(child));
        waiting.push(child);
      } else {
        run.nodes.push(child);
        inline(child, run.tokens, attributes);
      }
    }
    end();
  }
}

/** Whether an element is a block or has one in it. */
function isContainer(element: Element, known: Map<Node, boolean>): boolean {
  const before = known.get(element);
  if (before !== undefined) return before;
  const role = roleOfNode(element);
  const children = role === 'inline' ? Array.from(element.childNodes).filter(isElement) : [];
  const result = role === 'block' || role === 'kept' || children.some((child) => isContainer(child, known));
  known.set(element, result);
  return result;
}

function inline(node: Node, tokens: InlineToken<Node>[], attributes: AttributeJob[]) {
  if (isText(node)) return tokens.push({ kind: 'text', text: node.data });
  if (!isElement(node)) return tokens.push({ kind: 'point', name: '', tag: node });
  const name = node.localName;
  const role = roleOfNode(node);
  if (role === 'inline' || !node.firstChild) attributes.push(...attributesOf(node));
  if (role !== 'inline')
    return tokens.push({ kind: role === 'break' || role === 'object' ? role : 'point', name, tag: node });
  tokens.push({ kind: 'open', name, tag: node });
  for (const child of Array.from(node.childNodes)) inline(child, tokens, attributes);
  return tokens.push({ kind: 'close', name, tag: node });
}

function attributesOf(element: Element): AttributeJob[] {
  if (isUntranslated(reader(element))) return [];
  return textAttributes.flatMap((name) => {
    const text = element.getAttribute(name);
    return text && isTranslatable(element.localName, name, reader(element)) ? [{ element, name, text }] : [];
  });
}

/** Whether the document has not changed since the text was read. */
function isAsBefore({ parent, nodes, tokens }: Run): boolean {
  const now: InlineToken<Node>[] = [];
  if (nodes.some((node) => node.parentNode !== parent)) return false;
  for (const node of nodes) inline(node, now, []);
  return sameTags(now, tokens) && textOf(now) === textOf(tokens);
}

const tagsOf = (tokens: readonly InlineToken<Node>[]) => tokens.filter((token) => token.kind !== 'text');

function sameTags(a: readonly InlineToken<Node>[], b: readonly InlineToken<Node>[]): boolean {
  const [first, second] = [tagsOf(a), tagsOf(b)];
  return first.length === second.length && first.every(({ tag }, i) => tag === second[i]?.tag);
}

function write(run: Run, result: readonly InlineToken<Node>[]) {
  if (sameTags(run.tokens, result)) fill(run, result);
  else rebuild(run, result);
}

/** Changes texts only: no node moves, so that no frame loads again and no focus is lost. */
function fill({ parent, nodes }: Run, result: readonly InlineToken<Node>[]) {
  const texts: string[] = [''];
  for (const token of result) {
    if (token.kind === 'text') texts.push((texts.pop() ?? '') + (token.raw ?? token.text));
    else texts.push('');
  }
  let slot = 0;
  const fillSlot = (owner: Node, found: Text[], before: Node | null) => {
    const text = texts[slot++] ?? '';
    if (found.map(({ data }) => data).join('') === text) return;
    const [first, ...rest] = found;
    if (first) first.data = text;
    else if (text) owner.insertBefore(textNode(owner, text), before);
    for (const node of rest) node.data = '';
  };
  const fillIn = (owner: Node, children: Node[], after: Node | null) => {
    let found: Text[] = [];
    for (const child of children) {
      if (isText(child)) {
        found.push(child);
        continue;
      }
      fillSlot(owner, found, child);
      found = [];
      if (isElement(child) && roleOfNode(child) === 'inline')
        fillIn(child, Array.from(child.childNodes), null);
    }
    fillSlot(owner, found, after);
  };
  fillIn(parent, nodes, nodes.at(-1)?.nextSibling ?? null);
}

/** Puts every node into its new place, between new texts. */
function rebuild({ parent, nodes }: Run, result: readonly InlineToken<Node>[]) {
  const after = nodes.at(-1)?.nextSibling ?? null;
  nodes.forEach(removeTexts);
  const path: Node[] = [];
  const add = (node: Node) => {
    const owner = path.at(-1);
    if (owner) owner.appendChild(node);
    else parent.insertBefore(node, after);
  };
  for (const token of result) {
    if (token.kind === 'text') {
      const text = token.raw ?? token.text;
      if (text) add(textNode(parent, text));
    } else if (token.kind === 'close') {
      path.pop();
    } else {
      add(token.tag);
      if (token.kind === 'open') path.push(token.tag);
    }
  }
}

function removeTexts(node: Node) {
  if (isText(node)) node.parentNode?.removeChild(node);
  else if (isElement(node) && roleOfNode(node) === 'inline') Array.from(node.childNodes).forEach(removeTexts);
}

function textNode(near: Node, text: string): Text {
  const owner = near.ownerDocument ?? (near as Document);
  return owner.createTextNode(text);
}
