import { type Document, Element, type ParentNode, Text } from "domhandler";
import { parse, type TreeAdapter } from "parse5";
import { adapter as domhandlerAdapter, type Htmlparser2TreeAdapterMap } from "parse5-htmlparser2-tree-adapter";

/** Depth at which Chromium stops nesting too: what would go deeper becomes a sibling. */
export const maxDepth = 512;
/** Elements, texts and comments of one page. */
export const maxNodes = 300_000;

/** The page has more nodes than any reader could use. */
export class TooManyNodesError extends Error {
  override readonly name = "TooManyNodesError";
}

type Adapter = TreeAdapter<Htmlparser2TreeAdapterMap>;

/**
 * Parses HTML as a browser does, into domhandler nodes, never deeper than {@link maxDepth}.
 *
 * @throws TooManyNodesError over {@link maxNodes}
 */
export function parseHtml(html: string): Document {
  const document = parse<Htmlparser2TreeAdapterMap>(html, { treeAdapter: cappedAdapter(), scriptingEnabled: false });
  flattenBelow(document);
  return document;
}

function cappedAdapter(): Adapter {
  const depths = new WeakMap<object, number>();
  let nodes = 0;
  const count = (): void => {
    nodes += 1;
    if (nodes > maxNodes) throw new TooManyNodesError(`the page has more than ${maxNodes} nodes`);
  };
  const depthOf = (node: object): number => depths.get(node) ?? 0;
  /** The nearest ancestor that may still have children. */
  const roomFor = (parent: ParentNode): ParentNode => {
    let place = parent;
    while (depthOf(place) >= maxDepth && place.parent) place = place.parent;
    return place;
  };
  const placed = (parent: ParentNode, child: object): void => {
    depths.set(child, depthOf(parent) + 1);
  };
  return {
    ...domhandlerAdapter,
    createElement(tag, namespace, attributes) {
      count();
      return domhandlerAdapter.createElement(tag, namespace, attributes);
    },
    createCommentNode(data) {
      count();
      return domhandlerAdapter.createCommentNode(data);
    },
    appendChild(parent, child) {
      const place = roomFor(parent);
      placed(place, child);
      domhandlerAdapter.appendChild(place, child);
    },
    insertBefore(parent, child, reference) {
      const place = reference.parent ?? parent;
      placed(place, child);
      domhandlerAdapter.insertBefore(place, child, reference);
    },
    insertText(parent, text) {
      const place = roomFor(parent);
      if (!(place.lastChild instanceof Text)) count();
      domhandlerAdapter.insertText(place, text);
    },
  };
}

/**
 * Repairing badly nested inline elements moves whole subtrees, so a few nodes may still lie deeper than the cap: their
 * content is lifted. Afterwards every walk may recurse.
 */
function flattenBelow(root: Document): void {
  const stack: { node: ParentNode; depth: number }[] = [{ node: root, depth: 0 }];
  for (let top = stack.pop(); top; top = stack.pop()) {
    const { node, depth } = top;
    if (depth >= maxDepth) {
      liftTexts(node);
      continue;
    }
    for (const child of node.children) if (child instanceof Element) stack.push({ node: child, depth: depth + 1 });
  }
}

function liftTexts(node: ParentNode): void {
  let text = "";
  const stack = [...node.children].reverse();
  for (let top = stack.pop(); top; top = stack.pop()) {
    if (top instanceof Text) text += `${top.data} `;
    else if (top instanceof Element && top.name !== "script" && top.name !== "style")
      for (let index = top.children.length - 1; index >= 0; index -= 1) {
        const child = top.children[index];
        if (child) stack.push(child);
      }
  }
  node.children = [];
  if (text.trim()) domhandlerAdapter.insertText(node, text);
}
