import { type AnyTool, defineTool, ToolError, toolOutput } from "@toolhaft/core";
import { findStrategies } from "@toolhaft/workspace";
import * as z from "zod";
import { type Editor, shownPath } from "../editor.ts";
import { effectsOf } from "../effects.ts";
import { helpFind } from "../not-found.ts";
import { showRanges } from "../ranges.ts";
import { counts, diffLines, replyWarnings } from "../reply.ts";
import { shortVersion } from "../resolve.ts";
import { editedFileShape, outcomeShape, versionInput } from "../schemas.ts";
import { type Place, planText, type TextEdit, textEditOf } from "../text-edit.ts";
import { write } from "../write.ts";

const input = z.object({
  path: z.string().describe("Path."),
  old_content: z.string().optional().describe("Text to find."),
  old_content_lines: z.array(z.string()).optional().describe("The same as lines."),
  new_content: z.string().optional().describe('New text; "" removes.'),
  new_content_lines: z.array(z.string()).optional().describe("The same as lines."),
  expected_replacements: z.int().min(1).max(10_000).default(1).describe("Occurrences."),
  start_line: z.int().min(1).optional().describe("First line, instead of old text."),
  end_line: z.int().min(1).optional().describe("Last line."),
  version: versionInput.optional().describe("Version it must have."),
  fuzzy: z.boolean().default(true).describe("Blanks and indents may differ."),
  allow_empty: z.boolean().default(false).describe("May leave no text."),
  dry_run: z.boolean().default(false).describe("Write nothing."),
});

const output = z.object({
  ...outcomeShape,
  file: z.object(editedFileShape),
  mode: z.enum(["text", "range"]),
  strategy: z.enum(findStrategies).optional(),
  similarity: z.number().optional(),
  matches: z.array(z.object({ startLine: z.int(), endLine: z.int() })),
});

export type EditFileData = z.output<typeof output>;

const DIFF_LINES = 80;

export function editFileTool(editor: Editor): AnyTool {
  const { settings } = editor;
  return defineTool({
    name: "edit_file",
    title: "Replace text in a file",
    description:
      "Replace exact text, or lines by number. Nothing is written unless the text occurs as often as expected.",
    keywords: ["search and replace", "str_replace", "substitute", "patch"],
    inputSchema: input,
    outputSchema: output,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    maxTextChars: settings.maxTextChars,
    maxSchemaTokens: 700,
    failureLead: "Rejected, nothing written.",
    examples: [
      {
        title: "Rename a port",
        input: { path: "src/app.ts", old_content: "listen(8080)", new_content: "listen(port)" },
      },
    ],
    effects: ({ path }, ctx) => effectsOf("file.write", [path], ctx),
    async execute(raw, ctx) {
      const request: TextEdit = textEditOf(raw);
      const { path, dry_run: dryRun, allow_empty: allowEmpty } = raw;
      const { files, outcome, fileChanges } = await write<Place>(editor, ctx, {
        paths: [path],
        dryRun,
        allowEmpty,
        plan: (present) => {
          const file = present.get(path);
          if (file) return [planText(editor, ctx, path, file, request)];
          throw new ToolError("not_found", `no file ${shownPath(ctx.directory, path)}`, {
            hint: 'apply_patch with Add File, or hashline_edit with version "new", creates it',
          });
        },
      }).catch(async (error: unknown) => {
        throw await helpFind(error, editor.workspace(ctx), [path], ctx);
      });
      const [done] = files;
      if (!done?.edited) throw new ToolError("internal", `nothing is known of ${path} after the edit`);
      const { extra } = done.planned;
      const data: EditFileData = {
        ...outcome,
        file: done.edited,
        mode: extra.mode,
        ...(extra.strategy === undefined ? {} : { strategy: extra.strategy }),
        ...(extra.similarity === undefined ? {} : { similarity: extra.similarity }),
        matches: extra.matches.map(({ startLine, endLine }) => ({ startLine, endLine })),
      };
      return toolOutput(data, { fileChanges });
    },
    render: (data) => renderEditFile(data, settings.maxTextChars),
  });
}

function renderEditFile(data: EditFileData, maxTextChars: number): string {
  const { file, matches, strategy, dryRun } = data;
  const places = showRanges(
    matches.map(({ startLine, endLine }) => [startLine, endLine]),
    20,
  );
  const several = matches.length > 1 ? `${matches.length} places, ` : "";
  const noun = matches.length === 1 && matches[0]?.startLine === matches[0]?.endLine ? "line" : "lines";
  const what = `${dryRun ? "Dry run, nothing written. Would edit" : "Edited"} ${file.filePath}`;
  const lines = [
    `${what}: ${several}${noun} ${places}, ${counts(file.additions, file.deletions)}, version: ${shortVersion(file.version)}`,
  ];
  const foot = replyWarnings(data);
  if (matches.length > 1 || (strategy !== undefined && strategy !== "exact")) {
    const diff = diffLines(file.diff, DIFF_LINES);
    const size = [...lines, ...diff, ...foot].reduce((sum, line) => sum + line.length + 1, 0);
    lines.push(...(size <= maxTextChars ? diff : ["(diff left out, the reply would grow too long)"]));
  }
  return [...lines, ...foot].join("\n");
}
