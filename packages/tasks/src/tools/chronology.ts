import { defineTool, ToolError } from "@toolhaft/core";
import { z } from "zod";
import { rangeOf } from "../dates.ts";
import { type Desk, visibleRoot } from "../desk.ts";
import { date } from "../input.ts";
import { statuses, type TaskStatus } from "../model.ts";
import { usageSchema } from "../schemas.ts";
import { cell, plural, table } from "../show.ts";
import { isTimeZone } from "../time-zone.ts";

const byStatus = z.object(
  Object.fromEntries(statuses.map((status) => [status, z.number()])) as Record<TaskStatus, z.ZodNumber>,
);

/** `task_chronology`: activity by hour, day or agent. */
export function chronologyTool(desk: Desk) {
  return defineTool({
    name: "task_chronology",
    title: "Activity over time",
    description: "Counts tasks by hour, day or agent, with outcomes and usage.",
    keywords: ["history", "statistics", "timeline", "per day"],
    inputSchema: z.object({
      from_date: date("ISO date or time"),
      to_date: date("Until"),
      group_by: z.enum(["hour", "day", "agent"]).default("hour").describe("Line by line."),
      tz: z.string().default("UTC").describe("Such as Asia/Shanghai."),
      limit: z.number().int().min(1).max(1_000).default(200).describe("Newest lines."),
    }),
    outputSchema: z.object({
      groupBy: z.string(),
      tz: z.string(),
      from: z.string().nullable(),
      to: z.string().nullable(),
      buckets: z.array(z.object({ key: z.string(), count: z.number(), byStatus, usage: usageSchema })),
      hidden: z.number(),
    }),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async execute(input, context) {
      const range = rangeOf(input.from_date, input.to_date);
      if (!isTimeZone(input.tz)) {
        throw new ToolError("invalid_input", "tz is no time zone that is known here", {
          hint: "write an IANA name such as Europe/Berlin or Asia/Shanghai, or UTC",
        });
      }
      const root = await visibleRoot(desk, context);
      const { buckets, hidden } = await desk.backend(context).store.buckets({
        groupBy: input.group_by,
        timeZone: input.tz,
        limit: input.limit,
        ...range,
        ...(root !== undefined && { rootSession: root }),
      });
      const iso = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
      return {
        groupBy: input.group_by,
        tz: input.tz,
        from: iso(range.from),
        to: iso(range.to),
        buckets: [...buckets],
        hidden,
      };
    },
    render({ groupBy, tz, buckets, hidden }) {
      if (buckets.length === 0) return "No tasks in that time.";
      const rows = buckets.map(({ key, count, byStatus }) => [
        cell(
          groupBy === "hour"
            ? key
                .replace("T", " ")
                .replace("Z", ":00")
                .replace(/([+-]\d\d:\d\d)$/, ":00 $1")
            : key,
          60,
        ),
        String(count),
        ...statuses.map((status) => String(byStatus[status])),
      ]);
      const lines = [table(["Bucket", "Count", ...statuses], rows)];
      if (groupBy !== "agent") lines.push(`Times in ${tz}.`);
      if (hidden > 0) lines.push(`${plural(hidden, "more bucket")} not shown: narrow the dates, or raise limit.`);
      return lines.join("\n");
    },
  });
}
