import { extname } from "node:path";
import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { checkText } from "../checks.ts";
import { pageOf } from "../cursor.ts";
import type { Desk } from "../desk.ts";
import { refOf } from "../model.ts";
import { fitLines, notesOf, plural } from "../present.ts";
import { cursorInput, limitInput, listedShape, reading, refSchema, roleInput, text } from "../schemas.ts";

const kinds = ["skill", "reference", "script", "template", "asset", "other"] as const;
const output = z.object({
  ...listedShape,
  skill: refSchema,
  files: z.array(z.object({ path: z.string(), bytes: z.int(), kind: z.enum(kinds), text: z.boolean() })),
  total: z.int(),
});

export function listSkillFilesTool(desk: Desk) {
  return defineTool({
    name: "list_skill_files",
    title: "List the files of a skill",
    description: "Lists the files of a skill with sizes and kinds.",
    inputSchema: z.object({
      skill_id: text("Name or id.", 300),
      limit: limitInput(1_000, 200, "Page size."),
      role_id: roleInput,
      cursor: cursorInput,
    }),
    outputSchema: output,
    annotations: reading,
    async execute(input, ctx) {
      const view = await desk.view(ctx);
      const skill = view.find(
        "skill",
        checkText("skill_id", input.skill_id, 300, '"pdf-forms"'),
        view.role(input.role_id),
      );
      const known = (await view.catalog.files?.(skill, ctx.signal)) ?? [
        { path: "SKILL.md", bytes: skill.bytes, text: true },
      ];
      const files = known.map((file) => ({ ...file, kind: kindOf(file.path) }));
      const { page, nextCursor } = pageOf(files, input.limit, {
        version: view.version,
        question: ["files", skill.id],
        cursor: input.cursor,
      });
      return {
        catalogVersion: view.version,
        notes: [...view.notes],
        ...(nextCursor !== undefined && { nextCursor }),
        skill: refOf(skill),
        files: [...page],
        total: files.length,
      };
    },
    render(data, _, toolName) {
      const lines = [
        `${plural(data.total, "file")} of ${data.skill.name}`,
        ...data.files.map(({ path, bytes, text: isText }) => `${path} (${bytes} bytes${isText ? "" : ", binary"})`),
      ];
      if (data.nextCursor !== undefined)
        lines.push(`More: ${toolName("list_skill_files")} with the same parameters and cursor ${data.nextCursor}`);
      return fitLines([...lines, ...notesOf(data.notes)], 30_000);
    },
  });
}

function kindOf(path: string): (typeof kinds)[number] {
  if (/^skill\.md$/i.test(path)) return "skill";
  const folder = path.split("/", 1)[0];
  if (folder === "references") return "reference";
  if (folder === "scripts" || /^\.(?:sh|py|js|mjs|ts|rb|ps1)$/.test(extname(path))) return "script";
  if (folder === "templates") return "template";
  return folder === "assets" ? "asset" : "other";
}
