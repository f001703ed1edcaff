import { type AnyTool, defineTool, ToolError } from "@toolhaft/core";
import { z } from "zod";
import { ambiguousIds, shownId } from "../ambiguous.ts";
import { rangeOf, showDuration, showTime } from "../dates.ts";
import { type Desk, fromAll, indexOf, unreadIn } from "../desk.ts";
import { listCursor } from "../list-cursor.ts";
import type { Summary } from "../model.ts";
import {
  cursor,
  fromDate,
  indexSchema,
  projectPath,
  readOnly,
  skippedSchema,
  source,
  summarySchema,
  toDate,
} from "../schemas.ts";
import { directoriesFor } from "../scope.ts";
import { callText, cell, indexLines, plural, shownText, skippedLines } from "../show.ts";
import type { SessionStore } from "../store.ts";
import { mergeCursor, splitCursor } from "./cursors.ts";

/** `session_list`: which sessions there are, newest update first. */
export function listTool(desk: Desk): AnyTool {
  return defineTool({
    name: "session_list",
    title: "List sessions",
    description: "Lists earlier sessions of this project, newest first; read one with session_read.",
    keywords: ["history", "transcripts", "conversations", "chats", "past sessions"],
    inputSchema: z.object({
      limit: z.number().int().min(1).max(100).default(20).describe("Page size."),
      from_date: fromDate,
      to_date: toDate,
      project_path: projectPath,
      source,
      include_children: z.boolean().default(false).describe("Of sub-agents, too."),
      include_archived: z.boolean().default(false).describe("Archived, too."),
      cursor,
    }),
    outputSchema: z.object({
      sessions: z.array(summarySchema),
      total: z.number(),
      nextCursor: z.string().nullable(),
      index: indexSchema,
      skipped: skippedSchema,
      timeZone: z.string(),
      elsewhere: z.number(),
      sources: z.array(z.string()),
      project: z.string(),
      ambiguous: z.array(z.string()),
    }),
    annotations: readOnly,
    async execute(input, context) {
      const range = rangeOf(input.from_date, input.to_date, desk.timeZone);
      const stores = chosenStores(desk.stores(context), input.source);
      const directories = await directoriesFor(desk, input.project_path, context);
      const given = splitCursor(input.cursor, "list");
      const ended = stores.flatMap(({ source }) => countsIn(given?.get(source)) ?? []);
      const asked = stores.filter(
        ({ source }) => given === undefined || (given.has(source) && countsIn(given.get(source)) === undefined),
      );
      const { answers, skipped } = await fromAll(
        asked,
        ({ source, reader }) => {
          const at = given?.get(source);
          return reader.list(
            {
              directories,
              limit: input.limit,
              includeChildren: input.include_children,
              includeArchived: input.include_archived,
              indexMs: desk.indexMs,
              ...range,
              ...(at !== undefined && at !== "" && { cursor: at }),
            },
            context.signal,
          );
        },
        context.signal,
      );
      const merged = answers.flatMap(({ store, answer }) => answer.items.map((item) => ({ store, item })));
      merged.sort((a, b) => compareUpdated(a.item, b.item));
      const page = merged.slice(0, input.limit);
      const next = new Map<string, string>();
      // Stores that are done still count on later pages.
      const done = new Map([...(given ?? [])].filter(([, at]) => countsIn(at) !== undefined));
      for (const { store, answer } of answers) {
        const taken = page.filter((entry) => entry.store === store);
        const last = taken.at(-1)?.item;
        const left = answer.items.length > taken.length || answer.nextCursor !== null;
        if (left)
          next.set(
            store.source,
            last === undefined ? (given?.get(store.source) ?? "") : listCursor(last.updatedAt, last.id),
          );
        else done.set(store.source, countsText(answer));
      }
      const sessions = page.map(({ item }) => ({ ...item, title: shownText(item.title, desk.redact) }));
      return {
        sessions,
        total: [...ended, ...answers.map(({ answer }) => answer)].reduce((sum, { total }) => sum + total, 0),
        nextCursor: next.size > 0 ? mergeCursor(new Map([...next, ...done]), "list") : null,
        index: indexOf(answers),
        skipped: [...skipped, ...unreadIn(answers)],
        timeZone: desk.timeZone,
        elsewhere: [...ended, ...answers.map(({ answer }) => answer)].reduce(
          (sum, { elsewhere }) => sum + elsewhere,
          0,
        ),
        sources: stores.map(({ source }) => source),
        project: directories[0] ?? context.directory,
        ambiguous: await ambiguousIds(
          desk.stores(context),
          page.map(({ store, item }) => ({ source: store.source, id: item.id })),
          context.signal,
        ),
      };
    },
    render(data, input, toolName) {
      const where = `in ${data.project} (${data.sources.join(", ")})`;
      const elsewhere = data.elsewhere > 0 ? ` Other projects have ${plural(data.elsewhere, "session")}.` : "";
      const lines: string[] = [];
      if (data.sessions.length === 0) {
        lines.push(`No sessions ${where}.${elsewhere}`);
      } else {
        lines.push("| Session ID | Title | Messages | Created | Duration |", "|---|---|---|---|---|");
        for (const session of data.sessions) {
          const id = shownId(session.source, session.id, data.ambiguous);
          const created = showTime(session.createdAt, data.timeZone);
          const kind = session.parent === null ? "" : ` (${session.parent.kind})`;
          lines.push(
            `| ${id} | ${cell(session.title) || "(untitled)"}${kind} | ${session.messages} | ${created} | ${showDuration(session.durationMs)} |`,
          );
        }
        lines.push(
          `${data.sessions.length} of ${plural(data.total, "session")} ${where}. Times in ${data.timeZone}.${elsewhere}`,
        );
      }
      if (data.nextCursor !== null) {
        lines.push(`Next: ${callText(toolName("session_list"), { ...input, cursor: data.nextCursor })}`);
      }
      return [...lines, ...indexLines(data.index), ...skippedLines(data.skipped)].join("\n");
    },
  });
}

/** What a cursor keeps of a store that has no more sessions; no list cursor begins like that. */
function countsText({ total, elsewhere }: { total: number; elsewhere: number }): string {
  return `=${total}.${elsewhere}`;
}

function countsIn(position: string | undefined): { total: number; elsewhere: number } | undefined {
  const [, total, elsewhere] = /^=(\d+)\.(\d+)$/.exec(position ?? "") ?? [];
  return total === undefined || elsewhere === undefined
    ? undefined
    : { total: Number(total), elsewhere: Number(elsewhere) };
}

function compareUpdated(a: Summary, b: Summary): number {
  if (a.updatedAt !== b.updatedAt) return a.updatedAt < b.updatedAt ? 1 : -1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

export function chosenStores(stores: readonly SessionStore[], source: string | undefined): readonly SessionStore[] {
  if (source === undefined) return stores;
  const chosen = stores.filter((store) => store.source === source);
  if (chosen.length > 0) return chosen;
  throw new ToolError("invalid_input", "source names no store that is set up here", {
    hint: `there are: ${stores.map((store) => store.source).join(", ")}`,
  });
}
