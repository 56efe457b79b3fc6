// As much of a document as translating one needs, for tests without a browser.
import { tokenize } from '../../dist/text/html-tokenizer.js';

/** An element, a text, or a comment. */
export class MiniNode {
  childNodes: MiniNode[] = [];
  parentNode: MiniNode | null = null;
  data = '';
  readonly attributes = new Map<string, string>();

  constructor(
    readonly ownerDocument: MiniDocument,
    readonly nodeType: number,
    readonly localName = '',
  ) {}

  get firstChild(): MiniNode | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): MiniNode | null {
    const siblings = this.parentNode?.childNodes ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  get textContent(): string {
    return this.data + this.childNodes.map(({ textContent }) => textContent).join('');
  }

  getAttribute(name: string) {
    return this.attributes.get(name) ?? null;
  }

  setAttribute(name: string, value: string) {
    this.attributes.set(name, value);
  }

  appendChild(node: MiniNode) {
    return this.insertBefore(node, null);
  }

  insertBefore(node: MiniNode, before: MiniNode | null) {
    if (before && before.parentNode !== this)
      throw new Error('The node before which to insert is not a child.');
    if (before === node) return node;
    node.parentNode?.removeChild(node);
    this.childNodes.splice(before ? this.childNodes.indexOf(before) : this.childNodes.length, 0, node);
    node.parentNode = this;
    return node;
  }

  removeChild(node: MiniNode) {
    const at = this.childNodes.indexOf(node);
    if (at < 0) throw new Error('Not a child.');
    this.childNodes.splice(at, 1);
    node.parentNode = null;
    return node;
  }
}

/** A document whose body is read from well-formed HTML without references. */
export class MiniDocument {
  readonly body = new MiniNode(this, 1, 'body');

  constructor(html: string) {
    let parent = this.body;
    for (const token of tokenize(html)) {
      if (token.kind === 'end') {
        parent = parent.parentNode ?? parent;
      } else if (token.kind === 'start') {
        const element = parent.appendChild(new MiniNode(this, 1, token.name));
        for (const { name, value } of token.attributes) element.setAttribute(name, value);
        parent = element.localName === 'img' || element.localName === 'br' ? parent : element;
      } else {
        const text = token.kind === 'comment' ? new MiniNode(this, 8) : this.createTextNode('');
        text.data = token.raw;
        parent.appendChild(text);
      }
    }
  }

  createTextNode(data: string) {
    const text = new MiniNode(this, 3);
    text.data = data;
    return text;
  }

  /** All elements. */
  all(node: MiniNode = this.body): MiniNode[] {
    return [...(node.nodeType === 1 ? [node] : []), ...node.childNodes.flatMap((child) => this.all(child))];
  }
}

/** Writes the content of a node. */
export function serialize(node: MiniNode): string {
  return node.childNodes
    .map((child) => {
      if (child.nodeType !== 1) return child.data;
      const attributes = Array.from(child.attributes, ([name, value]) => ` ${name}="${value}"`).join('');
      const end = child.localName === 'img' || child.localName === 'br' ? '' : `</${child.localName}>`;
      return `<${child.localName}${attributes}>${serialize(child)}${end}`;
    })
    .join('');
}
