import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { checkText } from "../checks.ts";
import type { Desk } from "../desk.ts";
import { type Asset, refOf } from "../model.ts";
import { cell, fitLines, notesOf, plural, table, typeCell } from "../present.ts";
import { cursorInput, limitInput, listedShape, reading, refSchema, roleInput, text } from "../schemas.ts";

const found = refSchema.extend({
  description: z.string(),
  owners: z.array(z.string()),
  status: z.string(),
  label: z.string().optional(),
});

const output = z.object({
  ...listedShape,
  query: z.string(),
  results: z.array(
    z.object({ asset: found, score: z.number(), matched: z.array(z.string()), snippet: z.string().optional() }),
  ),
  total: z.int(),
  near: z.array(refSchema),
});

export function searchTool(desk: Desk) {
  return defineTool({
    name: "asset_search",
    title: "Find skills, functions, references and roles",
    description:
      "Finds skills, functions, references and roles by words in names, descriptions and texts; all words must occur. Use it before a task that a skill may cover.",
    keywords: ["skills", "list skills", "find skill", "技能", "スキル", "rolle"],
    inputSchema: z.object({
      query: text("Words.", 500),
      type: z.enum(["skill", "function", "reference", "role", "all"]).default("all").describe("Kind."),
      role_id: roleInput,
      limit: limitInput(50, 20, "Page size."),
      cursor: cursorInput,
    }),
    outputSchema: output,
    annotations: reading,
    examples: [{ title: "Skills about PDF forms", input: { query: "pdf form", type: "skill" } }],
    async execute(input, ctx) {
      const query = checkText("query", input.query, 500, '"pdf form"');
      const view = await desk.view(ctx);
      const role = view.role(input.role_id);
      const page = await view.search({
        text: query,
        ...(input.type !== "all" && { type: input.type }),
        ...(role !== undefined && { role }),
        limit: input.limit,
        ...(input.cursor !== undefined && { cursor: input.cursor }),
      });
      const seen = page.hits.filter(({ asset }) => view.visible(asset));
      return {
        catalogVersion: view.version,
        notes: [...view.notes],
        ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
        query,
        results: seen.map(({ asset, score, matched, snippet }) => ({
          asset: foundOf(asset),
          score,
          matched,
          ...(snippet !== undefined && { snippet }),
        })),
        total: page.total,
        near: page.near.filter(view.visible).map(refOf),
      };
    },
    render(data, input, toolName) {
      const lines = [`## Asset Search Results: ${cell(data.query)}`];
      if (data.results.length === 0) {
        const where = input.role_id === undefined ? "" : ` in role ${input.role_id}`;
        lines.push(`Nothing holds all of these words${where}.`);
        if (data.near.length > 0) lines.push("Some of them:", ...nearTable(data.near));
      } else {
        lines.push(
          ...table(
            ["Name", "Type", "Role", "Description"],
            data.results.map(({ asset }) => [
              cell(asset.name),
              typeCell(asset, asset.status === "broken" ? "broken" : asset.label),
              cell(asset.role ?? asset.owners.join(", ")),
              cell(asset.description, 1_024),
            ]),
          ),
          `${plural(data.total, "asset")} found, ${data.results.length} shown.`,
        );
      }
      if (data.nextCursor !== undefined)
        lines.push(`More: ${toolName("asset_search")} with the same parameters and cursor ${data.nextCursor}`);
      return fitLines([...lines, ...notesOf(data.notes)], 30_000);
    },
  });
}

function foundOf(asset: Asset) {
  const { description, owners, status, label } = asset;
  return { ...refOf(asset), description, owners, status, ...(label !== undefined && { label }) };
}

function nearTable(near: readonly z.output<typeof refSchema>[]): string[] {
  return table(
    ["Name", "Type", "Role", "Id"],
    near.map((asset) => [cell(asset.name), typeCell(asset), cell(asset.role ?? ""), cell(asset.id, 300)]),
  );
}
