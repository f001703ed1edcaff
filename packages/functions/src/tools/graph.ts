import { defineTool, nearest, ToolError } from "@toolhaft/core";
import { z } from "zod";
import { checkSession, type Desk } from "../engine.ts";
import type { DeskOf } from "../functions.ts";
import { buildGraph, type Graph } from "../graph.ts";
import { toMermaid } from "../mermaid.ts";
import { oneLine } from "../present.ts";
import { indexSpecs, knownRole } from "../specs/specs.ts";

const output = z.object({
  focus: z.enum(["dependencies", "state_machine"]),
  nodes: z.array(
    z.object({
      id: z.string(),
      kind: z.enum(["function", "artifact"]),
      label: z.string(),
      role: z.string().nullable(),
      missing: z.boolean().optional(),
      phase: z.string().optional(),
    }),
  ),
  edges: z.array(
    z.object({
      from: z.string(),
      to: z.string(),
      kind: z.enum(["requires", "produces", "consumes", "activates", "deactivates"]),
      when: z.string().optional(),
    }),
  ),
  cycles: z.array(z.array(z.string())),
  unproduced: z.array(z.string()),
  unknown: z.array(z.string()),
  nextCursor: z.string().optional(),
});

const maxTextChars = 30_000;

/** `function_graph`: what functions need from each other, or how they hand over. */
export function graphTool(deskOf: DeskOf) {
  return defineTool({
    name: "function_graph",
    title: "Graph of functions",
    description:
      "Shows how functions hang together: what each requires, produces and consumes, or (state_machine) activates. Names cycles and what is missing.",
    keywords: ["dependencies", "workflow", "diagram", "mermaid", "cycles", "transitions"],
    inputSchema: z.object({
      role_id: z.string().min(1).max(300).optional().describe("This role and below."),
      focus: z.enum(["dependencies", "state_machine"]).default("dependencies").describe("Kind of edges."),
      format: z.enum(["text", "mermaid", "json"]).default("text").describe("Form."),
      session_id: z.string().min(1).max(300).optional().describe("Mark its phases."),
      limit: z.int().min(1).max(2_000).default(300).describe("Page size."),
      cursor: z.string().optional().describe("Next page."),
    }),
    outputSchema: output,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    maxTextChars,
    async execute(input, context) {
      const desk = deskOf(context);
      const role = input.role_id === undefined ? undefined : await knownRole(desk.specs, input.role_id);
      const phases = input.session_id === undefined ? new Map() : await phasesOf(desk, input.session_id);
      const graph = buildGraph(indexSpecs(await desk.specs.list()), input.focus, role, phases);
      if (input.format !== "text") {
        refuseLong(input.format === "json" ? JSON.stringify(graph) : toMermaid(graph), input.format);
        return graph;
      }
      const from = input.cursor === undefined ? 0 : placeOf(input.cursor, graph);
      const to = endOfPage(graph, from, input.limit);
      return { ...graph, ...(to < graph.edges.length && { nextCursor: cursorOf(to, graph) }) };
    },
    render(data, input, toolName) {
      if (input.format === "json") return JSON.stringify(data);
      if (input.format === "mermaid") return toMermaid(data);
      return renderText(data, input, toolName("function_graph"));
    },
  });
}

async function phasesOf(desk: Desk, session: string): Promise<Map<string, string>> {
  checkSession(session);
  const { step, functions } = await desk.store.read(session);
  if (step === 0) {
    const near = nearest(session, await desk.store.sessions(1_000), 5);
    throw new ToolError("not_found", `no function state is recorded for session "${session}"`, {
      hint: near.length > 0 ? `near: ${near.join(", ")}` : "leave session_id out",
    });
  }
  return new Map(Object.values(functions).map(({ id, phase }) => [id, phase]));
}

function refuseLong(text: string, format: string): void {
  if (text.length <= maxTextChars) return;
  throw new ToolError(
    "too_large",
    `the graph has ${text.length} characters as ${format}, at most ${maxTextChars} are shown`,
    {
      hint: "choose a role with role_id, or format text, which comes in pages",
    },
  );
}

function edgeText({ from, to, kind, when }: Graph["edges"][number], graph: Pick<Graph, "nodes">): string {
  const condition = when === undefined ? "" : ` when ${oneLine(when, 200)}`;
  return `${nodeText(from, graph)} --${kind}--> ${nodeText(to, graph)}${condition}`;
}

/** Artifacts stand in brackets. */
function nodeText(id: string, { nodes }: Pick<Graph, "nodes">): string {
  const node = nodes.find((one) => one.id === id);
  const label = oneLine(node?.label ?? id, 200);
  if (node?.kind === "artifact") return `[${label}]`;
  return node?.missing ? `${label} (missing)` : node?.phase === undefined ? label : `${label} (${node.phase})`;
}

/** As many edges as the limit says and the text can hold; at least one. */
function endOfPage(graph: Graph, from: number, limit: number): number {
  let left = maxTextChars - 6_000;
  let to = from;
  for (const edge of graph.edges.slice(from, from + limit)) {
    left -= edgeText(edge, graph).length + 1;
    if (left < 0 && to > from) break;
    to++;
  }
  return to;
}

function renderText(
  data: z.infer<typeof output>,
  input: { cursor?: string | undefined; limit: number },
  tool: string,
): string {
  if (data.nodes.length === 0) return "no function in this workspace";
  const from = input.cursor === undefined ? 0 : decode(input.cursor).place;
  const to = data.nextCursor === undefined ? data.edges.length : decode(data.nextCursor).place;
  const linked = new Set(data.edges.flatMap((edge) => [edge.from, edge.to]));
  const alone = data.nodes.filter(({ id }) => !linked.has(id));
  const lines = data.edges.slice(from, to).map((edge) => edgeText(edge, data));
  const facts = [
    `Cycles: ${list(data.cycles.map((cycle) => cycle.join(" ↔ ")))}.`,
    ...(data.focus === "dependencies" ? [`Never produced: ${list(data.unproduced.map((name) => `[${name}]`))}.`] : []),
    ...(data.unknown.length > 0 ? [`Unknown: ${list(data.unknown)}.`] : []),
    ...(alone.length > 0
      ? [
          `Without edges: ${list(alone.map(({ label, phase }) => (phase === undefined ? label : `${label} (${phase})`)))}.`,
        ]
      : []),
  ];
  const more =
    data.nextCursor === undefined
      ? []
      : [
          `Edges ${from + 1} to ${to} of ${data.edges.length}. Next: ${tool} ${JSON.stringify({ ...input, cursor: data.nextCursor })}`,
        ];
  return [...lines, facts.join(" "), ...more].join("\n");
}

/** Names on one line, up to a thousand characters. */
function list(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const shown: string[] = [];
  let left = 1_000;
  for (const name of names) {
    const text = oneLine(name, 300);
    left -= text.length + 2;
    if (left < 0 && shown.length > 0) return `${shown.join(", ")} and ${names.length - shown.length} more`;
    shown.push(text);
  }
  return shown.join(", ");
}

function cursorOf(place: number, { edges }: Graph): string {
  return Buffer.from(`${place}:${edges.length}`, "utf8").toString("base64url");
}

function decode(cursor: string): { place: number; total: number } {
  const [, place = "-1", total = "-1"] =
    /^(\d{1,9}):(\d{1,9})$/.exec(Buffer.from(cursor, "base64url").toString("utf8")) ?? [];
  return { place: Number(place), total: Number(total) };
}

function placeOf(cursor: string, { edges }: Graph): number {
  const { place, total } = decode(cursor);
  if (place > 0 && place < edges.length && total === edges.length) return place;
  throw new ToolError(
    "invalid_input",
    "cursor does not fit this graph: the functions changed, or it is from another call",
    {
      hint: "leave cursor out to start with the first page",
    },
  );
}
