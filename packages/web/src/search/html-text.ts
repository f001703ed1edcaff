import type { AnyNode } from "domhandler";

/** A parsed page of a search engine, or a snippet, as a tree. */
export async function parseHtml(html: string): Promise<AnyNode[]> {
  const [{ parse }, { adapter }] = await Promise.all([import("parse5"), import("parse5-htmlparser2-tree-adapter")]);
  return parse(html, { treeAdapter: adapter }).children;
}

/** The text of nodes, on one line. */
export function textOf(nodes: readonly AnyNode[]): string {
  let text = "";
  const walk = (node: AnyNode): void => {
    if (node.type === "text") text += node.data;
    else if ("children" in node) {
      const block = node.type === "tag" && /^(?:br|p|div|li|td)$/.test(node.name);
      if (block) text += " ";
      node.children.forEach(walk);
    }
  };
  nodes.forEach(walk);
  return text.replace(/\s+/g, " ").trim();
}

/** Text of a snippet that comes as HTML: marks gone, entities decoded. */
export async function plainSnippet(html: string): Promise<string> {
  return /[<&]/.test(html) ? textOf(await parseHtml(html)) : html.replace(/\s+/g, " ").trim();
}
