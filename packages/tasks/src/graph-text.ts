import { showDuration } from "./dates.ts";
import { cut, oneLine, plural } from "./show.ts";
import type { TaskRow } from "./task-row.ts";

export interface GraphNode extends TaskRow {
  level: number;
  attempts: number;
}

export interface Graph {
  root: string;
  nodes: readonly GraphNode[];
  shown: number;
  total: number;
  hiddenBelowDepth: number;
}

/** A tree of lines; below each session its own. */
export function textTree(graph: Graph, options: { status: boolean }): string {
  const lines: string[] = [];
  let session: string | undefined;
  graph.nodes.forEach((node, index) => {
    if (node.level === 0 && node.rootSession !== session) {
      session = node.rootSession;
      const below =
        graph.root === "all" ? graph.nodes.filter((one) => one.rootSession === session).length : graph.total;
      lines.push(`session ${session} · ${plural(below, "task")}`);
    }
    lines.push(`${branches(graph.nodes, index)}${nodeLine(node, options)}`);
  });
  return [...lines, ...closing(graph)].join("\n");
}

/** `│  ├─ `: a bar for every level on which more is to come. */
function branches(nodes: readonly GraphNode[], index: number): string {
  const level = nodes[index]?.level ?? 0;
  const root = nodes[index]?.rootSession;
  let text = "";
  for (let at = 0; at <= level; at++) {
    const more = hasMore(nodes, index, at, root);
    if (at === level) text += more ? "├─ " : "└─ ";
    else text += more ? "│  " : "   ";
  }
  return text;
}

/** Whether another node of this level follows before the branch ends. */
function hasMore(nodes: readonly GraphNode[], index: number, level: number, root: string | undefined): boolean {
  for (let next = index + 1; next < nodes.length; next++) {
    const node = nodes[next];
    if (node === undefined || node.rootSession !== root || node.level < level) return false;
    if (node.level === level) return true;
  }
  return false;
}

function nodeLine(node: GraphNode, { status }: { status: boolean }): string {
  const who = oneLine(node.agent ?? node.claimedBy?.agent ?? node.assignee ?? "(nobody)");
  const parts = [`${node.id} ${cut(who, 40)}`];
  if (status) {
    const why = node.end !== null && node.status !== "completed" ? ` (${node.end.reason})` : "";
    const took = node.durationMs === null || why !== "" ? "" : ` ${showDuration(node.durationMs)}`;
    parts.push(` ${node.status}${why}${took}`);
  }
  if (node.attempts > 1) parts.push(`, attempt ${node.attempts}`);
  if (node.continues !== null) parts.push(`, continues ${node.continues}`);
  if (node.dependsOn.length > 0) parts.push(`, after ${node.dependsOn.join(", ")}`);
  const said = node.resultPreview ?? (status ? node.end?.message : undefined) ?? "";
  if (said !== "") parts.push(`: ${summary(said, node)}`);
  return parts.join("");
}

/** The beginning of a result; `…` where there is more of it. */
function summary(text: string, node: GraphNode): string {
  const line = oneLine(text).trim();
  const more = node.resultPreview !== undefined && (node.resultChars ?? 0) > [...node.resultPreview].length;
  return more ? `${line} …` : line;
}

/** A Mermaid flowchart: solid arrows to children, dotted ones to what waits or goes on. @see https://mermaid.js.org/syntax/flowchart.html */
export function mermaidGraph(graph: Graph, options: { status: boolean }): string {
  const shown = new Map(graph.nodes.map((node, index) => [node.id, `t${index}`]));
  const roots = new Map<string, string>();
  const lines = ["flowchart TD"];
  for (const node of graph.nodes) {
    if (!roots.has(node.rootSession)) {
      const name = `s${roots.size}`;
      roots.set(node.rootSession, name);
      lines.push(`  ${name}(["session ${label(node.rootSession)}"])`);
    }
  }
  for (const node of graph.nodes) {
    const name = shown.get(node.id);
    const status = options.status ? `<br/>${node.status}` : "";
    const who = node.agent ?? node.assignee ?? "";
    lines.push(`  ${name}["${label(node.id)}<br/>${label(cut(oneLine(who === "" ? node.title : who), 60))}${status}"]`);
    const above = (node.parentTask === null ? undefined : shown.get(node.parentTask)) ?? roots.get(node.rootSession);
    lines.push(`  ${above} --> ${name}`);
    for (const needed of node.dependsOn) {
      const from = shown.get(needed);
      if (from !== undefined) lines.push(`  ${from} -. after .-> ${name}`);
    }
    const source = node.continues === null ? undefined : shown.get(node.continues);
    if (source !== undefined) lines.push(`  ${source} -. continues .-> ${name}`);
  }
  return [...lines, ...closing(graph).map((line) => `%% ${line}`)].join("\n");
}

/** Mermaid reads entities with `#`; quotes, brackets and angles would end a label. */
function label(text: string): string {
  return text.replace(/[#"<>[\]{}()|\\`;&]/g, (sign) => `#${sign.codePointAt(0)};`);
}

function closing({ shown, total, hiddenBelowDepth }: Graph): string[] {
  const lines: string[] = [];
  if (hiddenBelowDepth > 0) lines.push(`${hiddenBelowDepth} below not shown: raise depth, or start at a task.`);
  const cutOff = total - shown - hiddenBelowDepth;
  if (cutOff > 0) lines.push(`${plural(cutOff, "more task")} of ${total} not shown: raise limit, or start at a task.`);
  return lines;
}
