import { defineTool, toolOutput } from "@toolhaft/core";
import { z } from "zod";
import { showDuration } from "../dates.ts";
import { type Desk, visibleRoot } from "../desk.ts";
import { writeExport } from "../export-file.ts";
import { exportPath } from "../input.ts";
import { cell, plural, table } from "../show.ts";

const slots = z.object({ sync: z.number(), background: z.number() });
const outputSchema = z.object({
  lanes: z.array(
    z.object({
      lane: z.string(),
      limit: z.number(),
      reservedSync: z.number(),
      active: slots,
      available: slots,
      queued: z.number(),
      oldestWaitMs: z.number().nullable(),
    }),
  ),
  owners: z.array(z.object({ session: z.string(), active: z.number(), limit: z.number().nullable() })),
  engines: z.number(),
  totals: z.object({ active: z.number(), limit: z.number(), queued: z.number() }),
  path: z.string().nullable(),
});
type Output = z.infer<typeof outputSchema>;

/** `task_concurrency`: lanes and slots. */
export function concurrencyTool(desk: Desk) {
  return defineTool({
    name: "task_concurrency",
    title: "Lanes and slots",
    description: "Shows how many sub-agents run and wait in each lane, what is free, and who uses the slots.",
    keywords: ["lanes", "limits", "parallel", "queue"],
    inputSchema: z.object({
      format: z.enum(["summary", "json"]).default("summary").describe("Form."),
      export_path: exportPath,
      overwrite: z.boolean().default(false).describe("Replace a file."),
    }),
    outputSchema,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async execute(input, context) {
      const { store } = desk.backend(context);
      const [lanes, all, engines] = await Promise.all([store.lanes(), store.owners(), store.engines()]);
      const root = await visibleRoot(desk, context);
      const owners = root === undefined ? all : all.filter(({ session }) => session === root);
      const sum = (count: (lane: (typeof lanes)[number]) => number) =>
        lanes.reduce((total, lane) => total + count(lane), 0);
      const data: Output = {
        lanes: [...lanes],
        owners: [...owners],
        engines: engines.filter(({ alive }) => alive).length,
        totals: {
          active: sum(({ active }) => active.sync + active.background),
          limit: sum(({ limit }) => limit),
          queued: sum(({ queued }) => queued),
        },
        path: null,
      };
      if (input.export_path === undefined) return data;
      const text = input.format === "json" ? `${JSON.stringify(data, null, 2)}\n` : `${summary(data)}\n`;
      const written = await writeExport(desk, context, { path: input.export_path, text, overwrite: input.overwrite });
      return toolOutput({ ...data, path: written.path }, { fileChanges: written.fileChanges });
    },
    render(data, input) {
      if (data.path !== null) return `Wrote the figures of ${plural(data.lanes.length, "lane")} to ${data.path}.`;
      return input.format === "json" ? JSON.stringify(data, null, 2) : summary(data);
    },
  });
}

function summary({ lanes, owners, engines, totals }: Output): string {
  const running = `${plural(engines, "dispatcher")} alive, ${totals.active} of ${totals.limit} slots in use, ${totals.queued} waiting`;
  if (lanes.length === 0) return `No lanes are in use. ${running}.`;
  const rows = lanes.map(({ lane, limit, reservedSync, active, available, queued, oldestWaitMs }) => [
    cell(lane, 60),
    `${active.sync + active.background} of ${limit}`,
    `${active.sync} sync, ${active.background} background`,
    `${available.sync} sync, ${available.background} background`,
    String(reservedSync),
    String(queued),
    showDuration(oldestWaitMs),
  ]);
  const lines = [
    table(["Lane", "Active", "Of these", "Free", "Kept for sync", "Queued", "Longest wait"], rows),
    `${running}.`,
  ];
  for (const { session, active, limit } of owners)
    lines.push(`Session ${session}: ${active}${limit === null ? "" : ` of ${limit}`} active.`);
  return lines.join("\n");
}
