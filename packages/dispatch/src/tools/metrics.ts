import { resolve } from "node:path";
import { type AnyTool, defineTool, type ToolContext, toolOutput } from "@toolhaft/core";
import { isEnded, type Task, type TaskStore } from "@toolhaft/tasks";
import { createWorkspace } from "@toolhaft/workspace";
import { z } from "zod";
import type { Desk } from "../desk.ts";
import { duration, table } from "../show.ts";

const windows = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000, all: null } as const;

const sampleSchema = z.object({ name: z.string(), labels: z.record(z.string(), z.string()), value: z.number() });
const metricSchema = z.object({ name: z.string(), help: z.string(), type: z.string(), values: z.array(sampleSchema) });
type Metric = z.infer<typeof metricSchema>;

const outputSchema = z.object({
  process: z.array(metricSchema),
  history: z.object({
    from: z.string().nullable(),
    byStatus: z.record(z.string(), z.number()),
    byAgent: z.record(z.string(), z.number()),
    byReason: z.record(z.string(), z.number()),
    durations: z.object({ p50: z.number().nullable(), p95: z.number().nullable() }),
  }),
  exposition: z.string().nullable(),
  exportedTo: z.string().nullable(),
});
type Output = z.infer<typeof outputSchema>;

/** `dispatch_metrics`: what was counted here, and what the store remembers. */
export function metricsTool(desk: Desk): AnyTool {
  return defineTool({
    name: "dispatch_metrics",
    title: "Count tasks, tokens and times",
    description: "Counts what was dispatched, by status, agent and reason, with durations.",
    keywords: ["statistics", "prometheus", "failures", "counters"],
    inputSchema: z.object({
      format: z.enum(["summary", "json", "prometheus"]).default("summary").describe("Form."),
      export_path: z.string().min(1).optional().describe("File to write to, too."),
      window: z.enum(["1h", "24h", "7d", "all"]).default("24h").describe("History."),
    }),
    outputSchema,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    effects: ({ export_path }, { directory }) =>
      export_path === undefined ? [] : [{ permission: "file.write", resource: resolve(directory, export_path) }],
    async execute({ format, export_path, window }, context) {
      const { engine } = await desk.open(context);
      const back = windows[window];
      const from = back === null ? null : desk.settings.clock.now() - back;
      const data: Output = {
        process: await processMetrics(desk),
        history: await historyOf(engine.store, from),
        exposition: format === "prometheus" ? await desk.metrics.text() : null,
        exportedTo: null,
      };
      if (export_path === undefined) return data;
      const { exposition, process, history } = data;
      const text = exposition ?? `${JSON.stringify({ process, history }, null, 2)}\n`;
      const { shown, changes } = await write(export_path, text, context);
      return toolOutput({ ...data, exportedTo: shown }, { fileChanges: changes });
    },
    render(output, { format }) {
      const { process, history, exposition, exportedTo } = output;
      const written = exportedTo === null ? [] : [`Written to ${exportedTo}`];
      if (format === "prometheus") return [exposition ?? "", ...written].join("\n");
      if (format === "json") return [JSON.stringify({ process, history }), ...written].join("\n");
      return [...summary(output), ...written].join("\n");
    },
  });
}

async function write(path: string, text: string, context: ToolContext) {
  const extraRoots = context.roots.slice(1).map((root) => ({ path: root, access: "write" as const }));
  await using workspace = createWorkspace({ root: context.directory, extraRoots });
  const scope = {
    directory: context.directory,
    sessionId: context.sessionId,
    signal: context.signal,
    ask: context.ask,
  };
  const target = await workspace.resolve(path, "write", scope);
  const bytes = Buffer.from(text);
  const staged = await workspace.stage(scope);
  try {
    await staged.append(bytes);
    const { changes } = await workspace.edit(
      [target.path],
      () => ({ changes: [{ kind: "adopt", path: target.path, staged, overwrite: true }], result: undefined }),
      scope,
    );
    return { shown: target.shown, changes };
  } finally {
    await staged.discard();
  }
}

interface PromMetric {
  name?: string;
  help?: string;
  type?: string;
  values?: { metricName?: string; labels?: Record<string, string | number>; value: number }[];
}

async function processMetrics(desk: Desk): Promise<Metric[]> {
  // The library's own JSON form.
  const all = (await desk.metrics.json()) as PromMetric[];
  return all.map(({ name = "", help = "", type = "", values = [] }) => ({
    name,
    help,
    type: String(type),
    values: values.map(({ metricName, labels = {}, value }) => ({
      name: metricName ?? name,
      labels: Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, String(text)])),
      value,
    })),
  }));
}

/** Counted from the store, so that it has an answer after a restart. */
async function historyOf(store: TaskStore, from: number | null): Promise<Output["history"]> {
  const byStatus: Record<string, number> = {};
  const byAgent: Record<string, number> = {};
  const byReason: Record<string, number> = {};
  const durations: number[] = [];
  const add = (counts: Record<string, number>, name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  for await (const task of tasksSince(store, from)) {
    add(byStatus, task.status);
    add(byAgent, task.agent ?? "board");
    if (isEnded(task.state) && task.end !== null) add(byReason, task.end.reason);
    if (task.durationMs !== null) durations.push(task.durationMs);
  }
  durations.sort((a, b) => a - b);
  const at = (share: number) => durations[Math.min(durations.length - 1, Math.floor(durations.length * share))] ?? null;
  return {
    from: from === null ? null : new Date(from).toISOString(),
    byStatus,
    byAgent,
    byReason,
    durations: { p50: at(0.5), p95: at(0.95) },
  };
}

async function* tasksSince(store: TaskStore, from: number | null): AsyncIterable<Task> {
  let cursor: string | undefined;
  do {
    const page = await store.find({
      kind: "dispatch",
      limit: 100,
      ...(from !== null && { from }),
      ...(cursor !== undefined && { cursor }),
    });
    yield* page.items;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

function summary({ process, history }: Output): string[] {
  const section = (title: string, type: string) => {
    const rows = process
      .filter((metric) => metric.type === type)
      .flatMap(({ values }) => values)
      .filter(({ name, value }) => value !== 0 && !name.endsWith("_bucket"))
      .map(({ name, labels, value }) => [
        name,
        Object.entries(labels)
          .map(([label, text]) => `${label}=${text}`)
          .join(", ")
          .replaceAll("|", "\\|"),
        String(Math.round(value * 1_000) / 1_000),
      ]);
    return [`## ${title}`, rows.length === 0 ? "none" : table(["Name", "Labels", "Value"], rows)];
  };
  const counts = (title: string, values: Readonly<Record<string, number>>) =>
    `${title}: ${
      Object.entries(values)
        .map(([name, count]) => `${name} ${count}`)
        .join(", ") || "none"
    }`;
  const { p50, p95 } = history.durations;
  return [
    ...section("Counters", "counter"),
    ...section("Gauges", "gauge"),
    ...section("Histograms", "histogram"),
    "## History",
    `Since ${history.from ?? "the beginning"}`,
    counts("Status", history.byStatus),
    counts("Agent", history.byAgent),
    counts("Reason", history.byReason),
    `Duration: half within ${p50 === null ? "–" : duration(p50)}, 95 % within ${p95 === null ? "–" : duration(p95)}`,
  ];
}
