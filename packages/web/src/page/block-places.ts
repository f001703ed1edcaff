import { Element, type ParentNode } from "domhandler";
import type { Block } from "./blocks.ts";
import { hintNames } from "./hints.ts";

export const far = 24;

export const sectionTags = [
  "main",
  "article",
  "section",
  "nav",
  "header",
  "footer",
  "aside",
  "form",
  "table",
  "ul",
  "ol",
  "dl",
  "figure",
  "blockquote",
  "pre",
  "details",
  "button",
  "label",
  "tr",
  "p",
  "li",
] as const;

export const ownTags = [
  "p",
  "li",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "td",
  "th",
  "div",
  "span",
  "a",
  "pre",
  "dt",
  "dd",
  "figcaption",
  "blockquote",
  "button",
  "label",
  "section",
  "article",
];

/** Tags, and classes where wanted, of the containers just above: blocks of one shape share a fate. */
export function shapeOf(owner: ParentNode, levels: number, withClass: boolean): string {
  let shape = "";
  let node: ParentNode | null = owner;
  for (let level = 0; level < levels && node instanceof Element; level += 1, node = node.parent)
    shape += `${node.name}${withClass ? `.${(node.attribs.class ?? "").split(/\s+/, 1)[0]}` : ""}>`;
  return shape;
}

export function hintDistances(read: (element: Element) => readonly number[]): (owner: ParentNode) => Uint8Array {
  const known = new Map<ParentNode, Uint8Array>();
  const visit = (node: ParentNode): Uint8Array => {
    const before = known.get(node);
    if (before) return before;
    const row = node.parent
      ? Uint8Array.from(visit(node.parent), (value) => Math.min(far, value + 1))
      : new Uint8Array(hintNames.length).fill(far);
    if (node instanceof Element && node.name !== "body" && node.name !== "html")
      for (const index of read(node)) row[index] = 0;
    known.set(node, row);
    return row;
  };
  return visit;
}

export function tagDistances(): (owner: ParentNode) => Uint8Array {
  const known = new Map<ParentNode, Uint8Array>();
  const places = new Map<string, number>(sectionTags.map((name, index) => [name, index]));
  const roles: Readonly<Record<string, string>> = {
    navigation: "nav",
    banner: "header",
    contentinfo: "footer",
    complementary: "aside",
    main: "main",
    article: "article",
    search: "form",
    list: "ul",
    listitem: "li",
    button: "button",
  };
  const visit = (node: ParentNode): Uint8Array => {
    const before = known.get(node);
    if (before) return before;
    const row = node.parent
      ? Uint8Array.from(visit(node.parent), (value) => Math.min(far, value + 1))
      : new Uint8Array(sectionTags.length).fill(far);
    if (node instanceof Element) {
      const place = places.get(node.name);
      if (place !== undefined) row[place] = 0;
      const role = places.get(roles[node.attribs.role ?? ""] ?? "");
      if (role !== undefined) row[role] = 0;
    }
    known.set(node, row);
    return row;
  };
  return visit;
}

export function depths(blocks: readonly Block[]): Map<ParentNode, number> {
  const map = new Map<ParentNode, number>();
  const visit = (node: ParentNode): number => {
    const before = map.get(node);
    if (before !== undefined) return before;
    const depth = node.parent ? visit(node.parent) + 1 : 0;
    map.set(node, depth);
    return depth;
  };
  for (const block of blocks) visit(block.owner);
  return map;
}

export function ownTag(block: Block): string {
  for (let node: ParentNode | null = block.owner; node; node = node.parent)
    if (node instanceof Element) {
      if (node.name === "span" || node.name === "strong" || node.name === "b" || node.name === "em") continue;
      if (
        (node.name === "a" || node.name === "div") &&
        node.parent instanceof Element &&
        /^(?:h[1-6]|li)$/.test(node.parent.name)
      )
        return node.parent.name;
      return node.name;
    }
  return "";
}

export function headingAbove(blocks: readonly Block[], index: number): number {
  for (let at = index - 1; at >= 0 && at > index - 99; at -= 1) {
    const block = blocks[at];
    if (block && /^h[1-6]$/.test(ownTag(block))) return at;
  }
  return -1;
}
