import type { Graph, GraphNode } from "./graph.ts";
import { oneLine } from "./present.ts";

const arrows = { requires: "-->", produces: "==>", consumes: "-.->", activates: "-->", deactivates: "-.->" } as const;

/** A diagram that Mermaid parses whatever the names are: ids are ours, labels are escaped. */
export function toMermaid(graph: Graph): string {
  const ids = new Map<string, string>();
  for (const { id, kind } of graph.nodes) {
    const letter = kind === "artifact" ? "a" : "f";
    ids.set(id, `${letter}${[...ids.values()].filter((one) => one.startsWith(letter)).length + 1}`);
  }
  const idOf = (node: string) => ids.get(node) ?? "f0";
  return graph.focus === "dependencies" ? flowchart(graph, idOf) : stateDiagram(graph, idOf);
}

function flowchart({ nodes, edges }: Graph, idOf: (node: string) => string): string {
  const lines = ["flowchart LR"];
  for (const node of nodes) {
    const label = `"${escaped(labelOf(node))}"`;
    lines.push(`  ${idOf(node.id)}${node.kind === "artifact" ? `[/${label}/]` : `[${label}]`}`);
  }
  for (const { from, to, kind } of edges) lines.push(`  ${idOf(from)} ${arrows[kind]}|${kind}| ${idOf(to)}`);
  return lines.join("\n");
}

function stateDiagram({ nodes, edges }: Graph, idOf: (node: string) => string): string {
  const lines = ["stateDiagram-v2"];
  for (const node of nodes) lines.push(`  state "${escaped(labelOf(node))}" as ${idOf(node.id)}`);
  for (const { from, to, kind, when } of edges)
    lines.push(`  ${idOf(from)} --> ${idOf(to)} : ${escaped(`${kind} when ${when ?? "?"}`)}`);
  return lines.join("\n");
}

function labelOf({ label, phase, missing }: GraphNode): string {
  const mark = missing ? " (missing)" : phase === undefined ? "" : ` (${phase})`;
  return oneLine(label) + mark;
}

/** Entity codes, as Mermaid writes them, for everything that is no letter, digit or harmless sign. */
function escaped(text: string): string {
  return text.replace(/[^\p{L}\p{N}\p{M} ._/()=,-]/gu, (character) => `#${character.codePointAt(0) ?? 0xfffd};`);
}
