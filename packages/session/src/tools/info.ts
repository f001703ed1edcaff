import { type AnyTool, defineTool } from "@toolhaft/core";
import { z } from "zod";
import { type Cost, costOf, modelCost, totalUsage } from "../cost.ts";
import { showDuration, showTime } from "../dates.ts";
import type { Desk } from "../desk.ts";
import { diffFiles } from "../diff.ts";
import { addUsage, type Todo, type Usage } from "../model.ts";
import { problemSchema, readOnly, sessionId, summarySchema, usageSchema } from "../schemas.ts";
import { locate } from "../scope.ts";
import { oneLine, plural, shownText } from "../show.ts";
import type { ModelUsage } from "../store.ts";

const mostFiles = 200;
const mostChildren = 100;
const kinds = z.enum(["create", "modify", "delete", "move"]);

/** `session_info`: what a session cost and did. */
export function infoTool(desk: Desk): AnyTool {
  return defineTool({
    name: "session_info",
    title: "Inspect a session",
    description: "Shows what a session cost and did: tokens, models, tools, changed files, todos, sub-agents, damage.",
    keywords: ["tokens", "cost", "usage", "statistics", "price"],
    inputSchema: z.object({
      session_id: sessionId,
      include_children: z.boolean().default(false).describe("Add sub-agents."),
    }),
    outputSchema: z.object({
      session: summarySchema,
      version: z.string().nullable(),
      counts: z.object({
        messages: z.number(),
        prompts: z.number(),
        answers: z.number(),
        toolCalls: z.number(),
        compactions: z.number(),
        branches: z.number(),
      }),
      activeMs: z.number(),
      usage: usageSchema,
      inherited: usageSchema.nullable(),
      usageComplete: z.boolean(),
      cost: z.object({
        usd: z.number().nullable(),
        recordedUsd: z.number().nullable(),
        unpriced: z.array(z.object({ model: z.string(), usage: usageSchema })),
        prices: z.string().nullable(),
      }),
      models: z.array(
        z.object({
          provider: z.string().nullable(),
          model: z.string(),
          answers: z.number(),
          usage: usageSchema,
          usd: z.number().nullable(),
        }),
      ),
      tools: z.array(z.object({ name: z.string(), calls: z.number(), errors: z.number(), denied: z.number() })),
      files: z.array(
        z.object({ path: z.string(), kind: kinds, additions: z.number().nullable(), deletions: z.number().nullable() }),
      ),
      todos: z
        .object({ completed: z.number(), inProgress: z.number(), pending: z.number(), cancelled: z.number() })
        .nullable(),
      children: z.array(z.object({ id: z.string(), kind: z.string(), title: z.string() })),
      context: z.object({ peakTokens: z.number().nullable(), window: z.number().nullable() }),
      problems: z.array(problemSchema),
      timeZone: z.string(),
    }),
    annotations: readOnly,
    async execute(input, context) {
      const { store, summary } = await locate(desk, input.session_id, context);
      const { reader } = store;
      const report = await reader.usage(summary.id, context.signal);
      const children = await reader.children(summary.id, context.signal);
      const own = report.models.filter(({ inherited }) => !inherited);
      const copied = report.models.filter(({ inherited }) => inherited);
      const subagents: ModelUsage[] = [];
      if (input.include_children) {
        for (const child of children.filter(({ parent }) => parent?.kind === "subagent")) {
          const { models } = await reader.usage(child.id, context.signal);
          subagents.push(...models.filter(({ inherited }) => !inherited));
        }
      }
      const counted = merged([...own, ...subagents]);
      const todos = await reader.todos(summary.id, context.signal);
      const changes = await reader.changes(summary.id, undefined, context.signal);
      return {
        session: { ...summary, title: shownText(summary.title, desk.redact) },
        version: report.version,
        counts: report.counts,
        activeMs: report.activeMs,
        usage: totalUsage(counted),
        inherited: copied.length > 0 ? totalUsage(copied) : null,
        usageComplete: report.complete,
        cost: costOf(counted, desk.prices),
        models: counted.map((entry) => ({
          provider: entry.provider,
          model: entry.model,
          answers: entry.answers,
          usage: entry.usage,
          usd: modelCost(entry, desk.prices) ?? null,
        })),
        tools: report.tools.map((tool) => ({ ...tool })),
        files:
          changes === undefined
            ? []
            : diffFiles(changes, summary.directory).map(({ path, kind, additions, deletions }) => ({
                path,
                kind,
                additions,
                deletions,
              })),
        todos: todos === undefined ? null : todoCounts(todos),
        children: children.map(({ id, parent, title }) => ({
          id,
          kind: parent?.kind ?? "subagent",
          title: shownText(title, desk.redact),
        })),
        context: report.context,
        problems: [...report.problems],
        timeZone: desk.timeZone,
      };
    },
    render(data) {
      const { session, counts } = data;
      const parent =
        session.parent === null
          ? ""
          : ` · ${session.parent.kind} of ${session.parent.id}${session.parent.at === null ? "" : ` at ${session.parent.at}`}`;
      const lines = [
        `**${oneLine(session.title) || "(untitled)"}** ${session.id} (${session.source})${parent} · ${plural(counts.messages, "message")}, ${plural(counts.prompts, "prompt")} · ${showTime(session.createdAt, data.timeZone)}, active ${showDuration(data.activeMs)}`,
        `**Token usage**: ${usageText(data.usage)}.${data.usageComplete ? "" : " Incomplete: see Problems."}`,
      ];
      if (data.inherited !== null) lines.push(`Inherited from the parent, not counted: ${usageText(data.inherited)}.`);
      lines.push(`**Cost**: ${costText(data.cost)}.`);
      if (data.models.length > 0) {
        const shown = data.models.map(
          ({ model, answers, usd }) => `${model} ${answers}${usd === null ? "" : ` ($${usd.toFixed(4)})`}`,
        );
        lines.push(`**Models**: ${shown.join(", ")}.`);
      }
      if (data.tools.length > 0) lines.push(`**Tools**: ${data.tools.map(toolText).join(", ")}.`);
      if (data.files.length > 0) {
        lines.push(`**Files**: ${plural(data.files.length, "file")}`);
        for (const file of data.files.slice(0, mostFiles)) {
          lines.push(`- ${oneLine(file.path, 300)} ${file.kind} +${file.additions ?? "?"} −${file.deletions ?? "?"}`);
        }
        if (data.files.length > mostFiles) lines.push(`- ${data.files.length - mostFiles} more`);
      }
      if (data.todos !== null && Object.values(data.todos).some((count) => count > 0)) {
        const { completed, inProgress, pending, cancelled } = data.todos;
        const parts = [`${completed} completed`, `${inProgress} in progress`, `${pending} pending`];
        if (cancelled > 0) parts.push(`${cancelled} cancelled`);
        lines.push(`**Todos**: ${parts.join(", ")}.`);
      }
      if (data.children.length > 0) {
        lines.push(`**Children**: ${plural(data.children.length, "session")}`);
        for (const child of data.children.slice(0, mostChildren))
          lines.push(`- ${child.id} ${child.kind} ${oneLine(child.title)}`);
        if (data.children.length > mostChildren) lines.push(`- ${data.children.length - mostChildren} more`);
      }
      if (data.problems.length > 0) {
        lines.push(
          `**Problems**: ${data.problems.map(({ code, count, first }) => `${count} ${code.replaceAll("_", " ")} (line ${first.line})`).join(", ")}.`,
        );
      }
      return lines.join("\n");
    },
  });
}

/** One entry for each model, though answers of several sessions are in it. */
function merged(models: readonly ModelUsage[]): ModelUsage[] {
  const byName = new Map<string, ModelUsage>();
  for (const entry of models) {
    const key = `${entry.provider ?? ""} ${entry.model}`;
    const known = byName.get(key);
    byName.set(
      key,
      known === undefined
        ? entry
        : {
            ...known,
            answers: known.answers + entry.answers,
            usage: addUsage(known.usage, entry.usage),
            cacheWrite1h: known.cacheWrite1h + entry.cacheWrite1h,
            recordedUsd:
              known.recordedUsd === null && entry.recordedUsd === null
                ? null
                : (known.recordedUsd ?? 0) + (entry.recordedUsd ?? 0),
          },
    );
  }
  return [...byName.values()];
}

function todoCounts(todos: readonly Todo[]) {
  const count = (status: Todo["status"]) => todos.filter((todo) => todo.status === status).length;
  return {
    completed: count("completed"),
    inProgress: count("in_progress"),
    pending: count("pending"),
    cancelled: count("cancelled"),
  };
}

function usageText(usage: Usage): string {
  const number = (value: number) => value.toLocaleString("en-US");
  const parts = [`input ${number(usage.inputTokens)}`];
  if (usage.cacheReadTokens > 0) parts.push(`cache read ${number(usage.cacheReadTokens)}`);
  if (usage.cacheWriteTokens > 0) parts.push(`cache write ${number(usage.cacheWriteTokens)}`);
  const reasoning = usage.reasoningTokens > 0 ? ` (reasoning ${number(usage.reasoningTokens)})` : "";
  parts.push(`output ${number(usage.outputTokens)}${reasoning}`);
  return parts.join(", ");
}

function costText(cost: Cost): string {
  const models = cost.unpriced.map(({ model }) => model);
  const unpriced = models.length > 0 ? `unpriced (${[...new Set(models)].join(", ")})` : "";
  const shown = cost.usd ?? cost.recordedUsd;
  if (shown === null) return unpriced === "" ? "none recorded" : unpriced;
  const prices = cost.prices === null ? "" : ` by ${cost.prices}`;
  return `$${shown.toFixed(4)}${prices}${unpriced === "" ? "" : `; the rest ${unpriced}`}`;
}

function toolText(tool: { name: string; calls: number; errors: number; denied: number }): string {
  const faults = [
    tool.errors > 0 ? plural(tool.errors, "error") : "",
    tool.denied > 0 ? `${tool.denied} denied` : "",
  ].filter((fault) => fault !== "");
  return `${oneLine(tool.name, 80)} ${tool.calls}${faults.length > 0 ? ` (${faults.join(", ")})` : ""}`;
}
