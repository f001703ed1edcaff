import { defineTool, ToolError } from "@toolhaft/core";
import { z } from "zod";
import { checkText } from "../checks.ts";
import type { Desk } from "../desk.ts";
import { refusedOf } from "../gate.ts";
import { refOf } from "../model.ts";
import { fitLines, notesOf, plural } from "../present.ts";
import { issueSchema, listedShape, reading, refSchema, typeInput } from "../schemas.ts";
import { checkAssets } from "../validate/check.ts";

const output = z.object({
  ...listedShape,
  requested: z.object({ type: typeInput, name: z.string().optional() }),
  before: z.string(),
  added: z.array(refSchema),
  changed: z.array(refSchema),
  removed: z.array(refSchema),
  unchanged: z.int(),
  issues: z.array(issueSchema),
  watching: z.boolean(),
  dryRun: z.boolean(),
});

export function hotReloadTool(desk: Desk) {
  return defineTool({
    name: "asset_hot_reload",
    title: "Read assets again now",
    description: "Reads asset files again and tells what changed or broke. Searches see changes by themselves.",
    keywords: ["refresh", "reload skills"],
    inputSchema: z.object({
      type: typeInput.default("role").describe("Kind; role without name: everything."),
      name: z.string().optional().meta({ description: "Name or id; a role with all it owns.", maxLength: 300 }),
      dry_run: z.boolean().default(false).describe("Report only."),
    }),
    outputSchema: output,
    annotations: reading,
    async execute({ type, name, dry_run: dryRun }, ctx) {
      if (desk.options.hotReload === false)
        throw new ToolError("unsupported", "hot reload is switched off here", {
          hint: "the host can set hotReload: true",
        });
      if (name !== undefined) checkText("name", name, 300, '"pdf-forms"');
      const catalog = desk.catalog(ctx);
      if (!catalog.reload)
        throw new ToolError("unsupported", "this catalog cannot be reloaded", { hint: "it changes by itself" });
      const target = { type, ...(name !== undefined && { name }), dryRun };
      const own = desk.directoryCatalog(ctx);
      const report = own
        ? await own.reload(target, ctx.signal, (paths) => refusedOf(ctx, paths))
        : await catalog.reload(target, ctx.signal);
      const touched = [...report.added, ...report.changed];
      const view = await desk.viewOf(ctx);
      const issues = dryRun ? [] : await checkAssets(view, touched.filter(view.visible), desk.options);
      return {
        catalogVersion: report.after,
        notes: [...view.notes],
        requested: { type, ...(name !== undefined && { name }) },
        before: report.before,
        added: report.added.filter(view.visible).map(refOf),
        changed: report.changed.filter(view.visible).map(refOf),
        removed: report.removed.map(refOf),
        unchanged: report.unchanged,
        issues: [...report.issues, ...issues.map(({ issue }) => issue)],
        watching: report.watching,
        dryRun,
      };
    },
    render(data) {
      const { requested, added, changed, removed } = data;
      const what =
        requested.name === undefined
          ? requested.type === "role"
            ? "everything"
            : `all ${requested.type}s`
          : `${requested.type} ${requested.name}`;
      const counts = `${added.length} added, ${changed.length} changed, ${removed.length} removed, ${data.unchanged} unchanged`;
      const lines = [
        `${data.dryRun ? "Dry run, nothing taken over: would reload" : "Reloaded"} ${what}: ${counts}. catalog ${data.before} → ${data.catalogVersion}`,
      ];
      for (const [label, assets] of [
        ["added", added],
        ["changed", changed],
        ["removed", removed],
      ] as const)
        lines.push(...assets.map(({ id }) => `${label}: ${id}`));
      if (data.issues.length > 0) lines.push(`${plural(data.issues.length, "issue")}:`);
      lines.push(
        ...data.issues.map(
          ({ severity, rule, file, line, message }) =>
            `${severity} ${rule} ${file}${line === undefined ? "" : `:${line}`} ${message}`,
        ),
      );
      return fitLines([...lines, ...notesOf(data.notes)], 30_000);
    },
  });
}
