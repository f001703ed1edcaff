import { defineTool, toolOutput } from "@toolhaft/core";
import { z } from "zod";
import { pageOf } from "../cursor.ts";
import type { Desk } from "../desk.ts";
import type { AssetType } from "../model.ts";
import { cell, fitLines, notesOf, plural, table } from "../present.ts";
import { cursorInput, issueSchema, limitInput, listedShape, mending, roleInput } from "../schemas.ts";
import { checkAssets, scopeOf } from "../validate/check.ts";
import { applyFixes, type FixOutcome, withFixes } from "../validate/fix.ts";
import type { Writers } from "../writers.ts";

const counts = z.object({ skill: z.int(), function: z.int(), reference: z.int(), role: z.int() });
const output = z.object({
  ...listedShape,
  scope: z.string().nullable(),
  checked: counts,
  issues: z.array(issueSchema),
  errors: z.int(),
  warnings: z.int(),
  fixable: z.int(),
  fixed: z.array(z.object({ rule: z.string(), file: z.string(), diff: z.string() })),
  notFixed: z.array(z.object({ rule: z.string(), file: z.string(), reason: z.string() })),
});

export function validateTool(desk: Desk, writers: Writers) {
  return defineTool({
    name: "asset_validate",
    title: "Check skills, functions and roles",
    description:
      "Checks assets: broken headers, wrong names, dead links, unknown conditions, circles, permissions, text that gives orders. Where safe, a repair is offered as diff.",
    keywords: ["lint skills", "repair", "check"],
    inputSchema: z.object({
      fix: z.boolean().default(false).describe("Apply the repairs."),
      limit: limitInput(500, 100, "Page size."),
      role_id: roleInput,
      cursor: cursorInput,
    }),
    outputSchema: output,
    annotations: mending,
    failureLead: "Rejected, nothing written.",
    async execute(input, ctx) {
      let view = await desk.view(ctx);
      const role = view.role(input.role_id);
      let outcome: FixOutcome = { fixed: [], notFixed: [], fileChanges: [] };
      let found = await withFixes(await checkAssets(view, scopeOf(view, role), desk.options), view, desk.options);
      if (input.fix) {
        outcome = await applyFixes(found, view, writers.workspace(ctx), (asset) => writers.isWritable(ctx, asset), ctx);
        if (outcome.fixed.length > 0) {
          view = await desk.view(ctx);
          found = await withFixes(await checkAssets(view, scopeOf(view, role), desk.options), view, desk.options);
        }
      }
      const issues = found.map(({ issue }) => issue);
      const scoped = scopeOf(view, role);
      const { page, nextCursor } = pageOf(issues, input.limit, {
        version: view.version,
        question: ["validate", role ?? null],
        cursor: input.cursor,
      });
      const data = {
        catalogVersion: view.version,
        notes: [...view.notes],
        ...(nextCursor !== undefined && { nextCursor }),
        scope: role ?? null,
        checked: countsOf(scoped),
        issues: [...page],
        errors: issues.filter(({ severity }) => severity === "error").length,
        warnings: issues.filter(({ severity }) => severity === "warning").length,
        fixable: issues.filter(({ fix }) => fix !== undefined).length,
        fixed: outcome.fixed,
        notFixed: outcome.notFixed,
      };
      return toolOutput(data, { fileChanges: outcome.fileChanges });
    },
    render(data, input, toolName) {
      const where = data.scope === null ? "" : ` for role ${data.scope}`;
      const fixable = data.fixable > 0 && !input.fix ? ` (${data.fixable} fixable: call again with fix=true)` : "";
      const { skill, function: functions, reference, role } = data.checked;
      const lines = [
        `## Asset Validation${where}: ${plural(data.errors, "error")}, ${plural(data.warnings, "warning")}${fixable}`,
        `Checked ${plural(skill, "skill")}, ${plural(functions, "function")}, ${plural(reference, "reference")}, ${plural(role, "role")}.`,
      ];
      if (data.fixed.length > 0)
        lines.push(
          `Fixed ${data.fixed.length}:`,
          ...data.fixed.flatMap(({ rule, file, diff }) => [`${rule} in ${file}`, diff.trimEnd()]),
        );
      if (data.notFixed.length > 0)
        lines.push(
          `Not fixed ${data.notFixed.length}:`,
          ...data.notFixed.map(({ rule, file, reason }) => `${rule} in ${file}: ${reason}`),
        );
      if (data.issues.length > 0)
        lines.push(...table(["Asset", "Type", "Severity", "Place", "Rule", "Problem"], data.issues.map(issueRow)));
      if (!input.fix)
        lines.push(
          ...data.issues.flatMap(({ fix, file, rule }) =>
            fix ? [`Fix of ${rule} in ${file}: ${fix.description}`] : [],
          ),
        );
      if (data.nextCursor !== undefined)
        lines.push(`More: ${toolName("asset_validate")} with the same parameters and cursor ${data.nextCursor}`);
      return fitLines([...lines, ...notesOf(data.notes)], 30_000);
    },
  });
}

function issueRow({ asset, severity, file, line, rule, message }: z.output<typeof issueSchema>): string[] {
  return [
    cell(asset.name),
    cell(asset.type),
    severity,
    cell(line === undefined ? file : `${file}:${line}`, 300),
    rule,
    cell(message, 300),
  ];
}

function countsOf(assets: readonly { type: AssetType }[]) {
  const of = (type: AssetType): number => assets.filter((asset) => asset.type === type).length;
  return { skill: of("skill"), function: of("function"), reference: of("reference"), role: of("role") };
}
