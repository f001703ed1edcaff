import { type ChildNode, Document, Element, type ParentNode, Text } from "domhandler";

/** A copy of the document with only the wanted nodes, what is in them, and the elements above them. */
export function keptTree(
  document: Document,
  wanted: ReadonlySet<ChildNode>,
  skip: (element: Element) => boolean,
): Document {
  const above = new Set<ParentNode>();
  for (const node of wanted) for (let up = node.parent; up && !above.has(up); up = up.parent) above.add(up);
  const copy = (node: ChildNode, whole: boolean): ChildNode | undefined => {
    if (node instanceof Text) return whole || wanted.has(node) ? new Text(node.data) : undefined;
    if (!("children" in node)) return undefined;
    const keep = whole || wanted.has(node);
    if (!keep && !above.has(node)) return node instanceof Element && standsBeside(node) ? copy(node, true) : undefined;
    if (node instanceof Element && !keep && skip(node)) return undefined;
    const element =
      node instanceof Element ? new Element(node.name, { ...node.attribs }, []) : new Element("div", {}, []);
    for (const child of node.children) {
      const inner = copy(child, keep);
      if (inner) append(element, inner);
    }
    return element;
  };
  const root = new Document([]);
  for (const child of document.children) {
    const inner = copy(child, false);
    if (inner) append(root, inner);
  }
  return root;
}

/** Elements without text of their own that belong to the kept text around them. */
function standsBeside({ name, attribs }: Element): boolean {
  if (name === "caption" || name === "hr") return true;
  if (name === "input") return attribs.type?.toLowerCase() === "checkbox";
  return name === "iframe" || name === "video";
}

function append(parent: ParentNode, child: ChildNode): void {
  const last = parent.children[parent.children.length - 1];
  child.prev = last ?? null;
  if (last) last.next = child;
  child.parent = parent;
  parent.children.push(child);
}
