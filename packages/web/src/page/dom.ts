import { type ChildNode, Element, type ParentNode, Text } from "domhandler";

/** Elements that stand in a line of text; everything else breaks it. */
const inlineTags = new Set(
  (
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math meter nobr output " +
    "picture progress q rb rp rt rtc ruby s samp small source span strike strong sub sup svg time track tt u var wbr " +
    "button input select option textarea object embed audio video canvas map area slot mjx-container"
  ).split(" "),
);

export function isText(node: unknown): node is Text {
  return node instanceof Text;
}

export function isInlineTag(name: string): boolean {
  return inlineTags.has(name);
}

/** The element above, if any. */
export function parentElement(node: ChildNode): Element | undefined {
  return node.parent instanceof Element ? node.parent : undefined;
}

/** All elements below, in document order. The list is made before it is walked, so the tree may be changed meanwhile. */
export function elementsIn(root: ParentNode): Element[] {
  const found: Element[] = [];
  const stack: ChildNode[] = [];
  const push = (children: readonly ChildNode[]): void => {
    for (let at = children.length - 1; at >= 0; at -= 1) {
      const child = children[at];
      if (child !== undefined && "children" in child) stack.push(child);
    }
  };
  push(root.children);
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (node instanceof Element) found.push(node);
    if ("children" in node) push(node.children);
  }
  return found;
}

export function firstElement(root: ParentNode, test: (element: Element) => boolean): Element | undefined {
  for (const element of elementsIn(root)) if (test(element)) return element;
  return undefined;
}

/** Text as it stands in the source, without regard to layout. */
export function textContent(node: ChildNode | ParentNode): string {
  if (node instanceof Text) return node.data;
  if (!("children" in node)) return "";
  let text = "";
  for (const child of node.children) text += textContent(child);
  return text;
}

/** Class names, lower case is not applied. */
export function classNames(element: Element): string[] {
  return (element.attribs.class ?? "").split(/\s+/).filter(Boolean);
}

/** White space folded to single blanks, ends trimmed. */
export function squeeze(text: string): string {
  return text.replace(/[\s\u00a0\u200b\ufeff]+/gu, " ").trim();
}

/** Takes the node out of its parent. */
export function detach(node: ChildNode): void {
  const parent = node.parent;
  if (!parent) return;
  const index = parent.children.indexOf(node);
  if (index >= 0) parent.children.splice(index, 1);
  if (node.prev) node.prev.next = node.next;
  if (node.next) node.next.prev = node.prev;
  node.parent = null;
  node.prev = null;
  node.next = null;
}
