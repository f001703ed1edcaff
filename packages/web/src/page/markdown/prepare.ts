import { type ChildNode, type Document, Element, type ParentNode, Text } from "domhandler";
import { detach, elementsIn, isInlineTag, squeeze, textContent } from "../dom.ts";

/** Puts a content tree in the order Markdown needs: links lie inside blocks, never around them. */
export function prepare(root: Document): void {
  for (const link of [...elementsIn(root)].filter(({ name, attribs }) => name === "a" && attribs.href !== undefined))
    if (holdsBlocks(link)) sink(link);
}

function holdsBlocks(element: Element): boolean {
  for (const inner of elementsIn(element)) if (!isInlineTag(inner.name)) return true;
  return false;
}

/** The heading in the link, or else its first block with text, is what is linked; the rest follows as text. */
function sink(link: Element): void {
  const target = linkTarget(link);
  const { attribs } = link;
  link.name = "div";
  link.attribs = {};
  if (!target) return;
  const [first] = target;
  const parent = first?.parent;
  if (!first || !parent) return;
  const inner = new Element("a", attribs, []);
  const index = parent.children.indexOf(first);
  for (const node of target) detach(node);
  inner.children = [...target];
  for (const node of target) node.parent = inner;
  target.forEach((node, at) => {
    node.prev = target[at - 1] ?? null;
    node.next = target[at + 1] ?? null;
  });
  parent.children.splice(index, 0, inner);
  inner.parent = parent;
  inner.prev = parent.children[index - 1] ?? null;
  inner.next = parent.children[index + 1] ?? null;
  if (inner.prev) inner.prev.next = inner;
  if (inner.next) inner.next.prev = inner;
}

function linkTarget(link: Element): ChildNode[] | undefined {
  for (const element of elementsIn(link))
    if (/^h[1-6]$/.test(element.name) && squeeze(textContent(element)) !== "" && !holdsBlocks(element))
      return [...element.children];
  return firstRun(link) ?? firstImage(link);
}

/** First run of inline nodes with text. */
function firstRun(parent: ParentNode): ChildNode[] | undefined {
  let run: ChildNode[] = [];
  for (const child of parent.children) {
    const isBlock = child instanceof Element && (!isInlineTag(child.name) || holdsBlocks(child));
    if (!isBlock && (child instanceof Element || child instanceof Text)) {
      run.push(child);
      continue;
    }
    if (squeeze(run.map(textContent).join("")) !== "") return run;
    run = [];
    if (child instanceof Element) {
      const inner = firstRun(child);
      if (inner) return inner;
    }
  }
  return squeeze(run.map(textContent).join("")) === "" ? undefined : run;
}

function firstImage(parent: ParentNode): ChildNode[] | undefined {
  for (const element of elementsIn(parent)) if (element.name === "img") return [element];
  return undefined;
}
