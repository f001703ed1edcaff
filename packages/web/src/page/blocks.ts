import { type ChildNode, Comment, Element, type ParentNode, Text } from "domhandler";
import { isInlineTag } from "./dom.ts";

/** A run of text that stands by itself: the unit that is kept or dropped. */
export interface Block {
  index: number;
  /** White space folded. */
  text: string;
  /** Length of the text inside links. */
  linkLength: number;
  links: number;
  images: number;
  /** Length of the text in buttons and labels. */
  controlLength: number;
  /** Length of the text in emphasis. */
  strongLength: number;
  /** The element whose children the nodes are. */
  owner: ParentNode;
  /** Neighbouring children of `owner` that make up the text. */
  nodes: ChildNode[];
}

const verbatim = new Set(["pre", "textarea", "xmp", "listing"]);

/**
 * Cuts a cleaned tree into blocks in document order. `skip` leaves elements out.
 * Two `<br>` in a row end a block too: old pages have no other paragraphs.
 */
export function cutBlocks(root: ParentNode, skip: (element: Element) => boolean): Block[] {
  const blocks: Block[] = [];
  const holdsBlocks = new Map<Element, boolean>();
  const hasBlock = (element: Element): boolean => {
    const known = holdsBlocks.get(element);
    if (known !== undefined) return known;
    let found = false;
    for (const child of element.children) {
      if (!(child instanceof Element) || skip(child)) continue;
      if (!isInlineTag(child.name) || hasBlock(child)) {
        found = true;
        break;
      }
    }
    holdsBlocks.set(element, found);
    return found;
  };

  const close = (owner: ParentNode, nodes: ChildNode[]): void => {
    if (nodes.length === 0) return;
    const run = new Run(skip);
    for (const node of nodes) run.add(node, false, false, false);
    const text = run.text.trim();
    if (text.length > 0 || run.images > 0)
      blocks.push({
        index: blocks.length,
        text,
        linkLength: run.linkLength,
        links: run.links,
        images: run.images,
        controlLength: run.controlLength,
        strongLength: run.strongLength,
        owner,
        nodes,
      });
  };

  const walk = (owner: ParentNode): void => {
    if (owner instanceof Element && verbatim.has(owner.name)) {
      close(owner, [...owner.children]);
      return;
    }
    let nodes: ChildNode[] = [];
    let breaks = 0;
    for (const child of owner.children) {
      if (child instanceof Element) {
        if (skip(child)) continue;
        if (!isInlineTag(child.name) || hasBlock(child)) {
          close(owner, nodes);
          nodes = [];
          breaks = 0;
          walk(child);
          continue;
        }
        breaks = child.name === "br" ? breaks + 1 : 0;
        nodes.push(child);
        if (breaks === 2) {
          close(owner, nodes);
          nodes = [];
        }
      } else if (child instanceof Text) {
        if (child.data.trim()) breaks = 0;
        nodes.push(child);
      } else if (!(child instanceof Comment) && "children" in child) {
        walk(child as ParentNode);
      }
    }
    close(owner, nodes);
  };
  walk(root);
  return blocks;
}

/** Collects the visible text of inline nodes. Neighbouring links and controls are apart on the screen, so a blank goes between. */
class Run {
  text = "";
  linkLength = 0;
  links = 0;
  images = 0;
  controlLength = 0;
  strongLength = 0;
  readonly #skip: (element: Element) => boolean;

  constructor(skip: (element: Element) => boolean) {
    this.#skip = skip;
  }

  add(node: ChildNode, inLink: boolean, inControl: boolean, inStrong: boolean): void {
    if (node instanceof Text) {
      const before = this.text.length;
      const folded = node.data.replace(/[\s\u00a0\u200b\ufeff]+/gu, " ");
      this.text += folded.startsWith(" ") && (this.text === "" || this.text.endsWith(" ")) ? folded.slice(1) : folded;
      const added = this.text.length - before;
      if (inLink) this.linkLength += added;
      if (inControl) this.controlLength += added;
      if (inStrong) this.strongLength += added;
      return;
    }
    if (!(node instanceof Element) || this.#skip(node)) return;
    const apart =
      node.name === "a" || node.name === "button" || node.name === "label" || node.name === "br" || node.name === "img";
    if (node.name === "a") this.links += 1;
    if (node.name === "img") this.images += 1;
    if (apart) this.#blank();
    const link = inLink || node.name === "a";
    const control = inControl || node.name === "button" || node.name === "label";
    const strong = inStrong || node.name === "b" || node.name === "strong";
    for (const child of node.children) this.add(child, link, control, strong);
    if (apart && node.name !== "a") this.#blank();
  }

  #blank(): void {
    if (this.text !== "" && !this.text.endsWith(" ") && /[\p{L}\p{N}]$/u.test(this.text)) this.text += " ";
  }
}
