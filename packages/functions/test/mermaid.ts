import { JSDOM, VirtualConsole } from "jsdom";

/** What Mermaid's own parser makes of a diagram: labels of its nodes, decoded, or an error that it throws. */
export async function parseMermaid(text: string): Promise<{ type: string; labels: string[] }> {
  // Mermaid cleans labels with the DOM of a page.
  const { window } = new JSDOM("", { url: "http://localhost/", virtualConsole: new VirtualConsole() });
  Object.assign(globalThis, { window, document: window.document });
  const { default: mermaid } = await import("mermaid");
  mermaid.initialize({ startOnLoad: false });
  const parsed = await mermaid.parse(text);
  const diagram = await mermaid.mermaidAPI.getDiagramFromText(text);
  const db: unknown = diagram.db;
  return { type: parsed.diagramType, labels: labelsOf(db).map(decode) };
}

function labelsOf(db: unknown): string[] {
  if (typeof db !== "object" || db === null || !("getData" in db) || typeof db.getData !== "function") return [];
  const { nodes }: { nodes: { label?: unknown; description?: unknown }[] } = db.getData();
  return nodes.map(({ label, description }) => {
    const text = label ?? description;
    return Array.isArray(text) ? text.join(" ") : String(text);
  });
}

/** Entity codes are written as #34; and kept by the parser between marks of its own until the text is drawn. */
function decode(label: string): string {
  return label.replace(/ﬂ°°(\d+)¶ß|&?#(\d+);/g, (_, kept, written) => String.fromCodePoint(Number(kept ?? written)));
}
