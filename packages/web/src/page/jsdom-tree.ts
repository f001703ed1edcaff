import { type ChildNode, Comment, Document, Element, type ParentNode, Text } from "domhandler";
import { PageError } from "./page-error.ts";
import { maxDepth, maxNodes, TooManyNodesError } from "./parse.ts";

/** What is read of a node of jsdom: the DOM's own names. */
interface DomNode {
  nodeType: number;
  nodeValue: string | null;
  localName?: string;
  attributes?: Iterable<{ name: string; value: string }>;
  childNodes: Iterable<DomNode>;
  /** Of a template. */
  content?: DomNode;
}

interface Jsdom {
  JSDOM: new (html: string, options: { url: string; virtualConsole: unknown }) => { window: DomWindow };
  VirtualConsole: new () => unknown;
}

interface DomWindow {
  document: DomNode;
  close(): void;
}

const elementNode = 1;
const textNode = 3;
const commentNode = 8;

/**
 * Parses with jsdom, scripts off, and copies its tree: for who wants the very DOM that jsdom makes.
 *
 * @throws PageError `unavailable` when the optional package is not installed
 * @throws TooManyNodesError over {@link maxNodes}
 */
export function jsdomTree(html: string, url: string): Document {
  const { JSDOM, VirtualConsole } = loadJsdom();
  const { window } = new JSDOM(html, {
    url: URL.canParse(url) ? url : "about:blank",
    virtualConsole: new VirtualConsole(),
  });
  try {
    return copyTree(window.document);
  } finally {
    window.close();
  }
}

function loadJsdom(): Jsdom {
  const { createRequire } = process.getBuiltinModule("node:module");
  try {
    const loaded: unknown = createRequire(import.meta.url)("jsdom");
    if (isJsdom(loaded)) return loaded;
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "MODULE_NOT_FOUND") throw error;
  }
  throw new PageError("unavailable", 'dom: "jsdom" needs the optional package jsdom 29', "npm install jsdom@29");
}

function isJsdom(loaded: unknown): loaded is Jsdom {
  return typeof loaded === "object" && loaded !== null && "JSDOM" in loaded && "VirtualConsole" in loaded;
}

/** Without recursion, since nothing caps the depth of what is copied; what lies too deep goes into the last that may have children. */
function copyTree(root: DomNode): Document {
  const document = new Document([]);
  const stack: { from: DomNode; into: ParentNode; depth: number }[] = [{ from: root, into: document, depth: 0 }];
  let nodes = 0;
  for (let top = stack.pop(); top; top = stack.pop()) {
    const { from, into, depth } = top;
    const children: typeof stack = [];
    for (const child of from.content?.childNodes ?? from.childNodes) {
      const copied = copyNode(child);
      if (!copied) continue;
      nodes += 1;
      if (nodes > maxNodes) throw new TooManyNodesError(`the page has more than ${maxNodes} nodes`);
      append(into, copied);
      if (copied instanceof Element)
        children.push({
          from: child,
          into: depth + 1 >= maxDepth ? into : copied,
          depth: Math.min(depth + 1, maxDepth),
        });
    }
    for (const child of children.reverse()) stack.push(child);
  }
  return document;
}

function copyNode({ nodeType, nodeValue, localName = "", attributes = [] }: DomNode): ChildNode | undefined {
  if (nodeType === textNode) return new Text(nodeValue ?? "");
  if (nodeType === commentNode) return new Comment(nodeValue ?? "");
  if (nodeType !== elementNode) return undefined;
  return new Element(localName, Object.fromEntries(Array.from(attributes, ({ name, value }) => [name, value])), []);
}

function append(parent: ParentNode, child: ChildNode): void {
  const last = parent.lastChild;
  child.parent = parent;
  child.prev = last;
  if (last) last.next = child;
  parent.children.push(child);
}
