import { type AnyTool, defineTool, ToolError, toolOutput } from "@toolhaft/core";
import { mapLine, parseText, trimmedChanges } from "@toolhaft/workspace";
import * as z from "zod";
import { anchoredDiff } from "../anchored-diff.ts";
import type { Editor } from "../editor.ts";
import { effectsOf } from "../effects.ts";
import type { LineHasher } from "../line-hash.ts";
import { helpFind } from "../not-found.ts";
import { type FileRequest, type PlannedEdit, planFiles } from "../plan-files.ts";
import { replyWarnings, versionLine } from "../reply.ts";
import { editedFileShape, linePair, outcomeShape } from "../schemas.ts";
import { type WrittenFile, write } from "../write.ts";

const edit = z.object({
  op: z
    .enum(["replace", "append", "prepend"])
    .default("replace")
    .describe("Replace pos to end; insert after (append) or before pos."),
  pos: z.string().optional().describe('Anchor, such as "12#kq". append without: file end; prepend: start.'),
  end: z.string().optional().describe("Last anchor, inclusive; default: pos."),
  lines: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe("New text, without anchors; [] deletes."),
  from: z.string().optional().describe("Copy anchors A or A..B."),
});

const input = z.object({
  files: z
    .array(
      z.object({
        filePath: z.string().describe("Path."),
        version: z
          .string()
          .regex(/^(new|[0-9a-fA-F]{12,64})$/, '12 to 64 hex digits as shown by a read or an edit, or "new"')
          .describe('Of the last read; "new" creates the file.'),
        edits: z.array(edit).min(1).max(1_000).describe("Edits of that version."),
      }),
    )
    .min(1)
    .max(100)
    .describe("Files to change."),
  dryRun: z.boolean().default(false).describe("Write nothing."),
});

const output = z.object({
  ...outcomeShape,
  files: z.array(
    z.object({
      ...editedFileShape,
      created: z.boolean(),
      edits: z.array(z.object({ index: z.int(), oldLines: linePair, newLines: linePair })),
      remapped: z.array(z.object({ given: z.string(), applied: z.string() })),
      widthChanged: z.boolean(),
      /** The lines of the reply: a diff whose lines carry their anchors. */
      shown: z.array(z.string()),
    }),
  ),
});

export type HashlineEditData = z.output<typeof output>;

/** Bytes of all payloads of a call. */
const MAX_PAYLOAD = 5 * 1024 * 1024;
const DIFF_LINES = 80;

export function editTool(editor: Editor): AnyTool {
  const { settings } = editor;
  return defineTool({
    name: "hashline_edit",
    title: "Edit files by line anchors",
    description:
      "Change files by LINE#HASH anchors, all or nothing. All edits of a file address the version named: line numbers need no adjusting. The reply, also a refusal, has the anchors to go on with.",
    keywords: ["write", "replace", "insert", "delete lines", "create file", "move lines"],
    inputSchema: input,
    outputSchema: output,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    maxTextChars: settings.maxTextChars,
    maxSchemaTokens: 700,
    failureLead: "Rejected, nothing written.",
    examples: [
      {
        title: "Replace line 11 by two lines",
        input: {
          files: [
            {
              filePath: "src/app.ts",
              version: "3fa94c0b12de",
              edits: [{ pos: "11#ab", lines: ["  listen(port);", "  log(port);"] }],
            },
          ],
        },
      },
    ],
    effects: ({ files }, ctx) =>
      effectsOf(
        "file.write",
        files.map(({ filePath }) => filePath),
        ctx,
      ),
    async execute({ files, dryRun }, ctx) {
      checkSize(files);
      const hasher = await editor.hasher();
      const requests = files.map((file): FileRequest => ({ ...file, version: file.version.toLowerCase() }));
      const {
        files: done,
        outcome,
        fileChanges,
      } = await write(editor, ctx, {
        paths: files.map(({ filePath }) => filePath),
        dryRun,
        plan: (present) => planFiles(editor, hasher, ctx, requests, present),
      }).catch(async (error: unknown) => {
        const paths = files.map(({ filePath }) => filePath);
        throw await helpFind(error, editor.workspace(ctx), paths, ctx);
      });
      return toolOutput({ ...outcome, files: done.map((file) => fileData(editor, hasher, file)) }, { fileChanges });
    },
    render: (data) => renderEdit(data, settings.maxTextChars),
  });
}

function fileData(
  editor: Editor,
  hasher: LineHasher,
  { name, planned, edited, after }: WrittenFile<PlannedEdit>,
): HashlineEditData["files"][number] {
  if (!edited || !after) throw new ToolError("internal", `nothing is known of ${name} after the edit`);
  const before = editor.codes(planned.before ?? parseText(new Uint8Array()), hasher);
  const trimmed = trimmedChanges(before.text, after.codes.text, after.changes);
  return {
    ...edited,
    created: planned.before === undefined,
    edits: planned.extra.edits.map((one) => ({ ...one, newLines: linesNow(one.newLines, after) })),
    remapped: [...planned.extra.remapped],
    widthChanged: planned.before !== undefined && before.width !== after.codes.width,
    shown: [...anchoredDiff(before, after.codes, trimmed, DIFF_LINES).lines],
  };
}

function checkSize(files: readonly { edits: readonly { lines?: string | readonly string[] | undefined }[] }[]): void {
  let bytes = 0;
  for (const { edits } of files) {
    for (const { lines } of edits) {
      for (const text of typeof lines === "string" ? [lines] : (lines ?? [])) bytes += Buffer.byteLength(text) + 1;
    }
  }
  if (bytes > MAX_PAYLOAD) {
    throw new ToolError("too_large", `the call holds ${bytes} bytes of new text, the limit is ${MAX_PAYLOAD}`, {
      hint: "split it into several calls",
    });
  }
}

/** Where the lines of an edit are after somebody rewrote the file: between the nearest lines that are still there. */
function linesNow(
  [first, last]: [number, number],
  { rewritten, codes, written }: NonNullable<WrittenFile<unknown>["after"]>,
): [number, number] {
  if (!rewritten) return [first, last];
  let above = 0;
  for (let line = first - 1; line >= 1 && above === 0; line--) above = mapLine(rewritten, line) ?? 0;
  const end = codes.text.lineCount + 1;
  let below = end;
  for (let line = last + 1; line <= written && below === end; line++) below = mapLine(rewritten, line) ?? end;
  return [above + 1, below - 1];
}

function renderEdit(data: HashlineEditData, maxTextChars: number): string {
  const head = data.dryRun ? ["Dry run, nothing written."] : [];
  const foot = [...replyWarnings(data)];
  const blocks = data.files.map((file) => {
    const { filePath, version, additions, deletions, created } = file;
    const title = versionLine(created ? `${filePath} (created)` : filePath, version, additions, deletions);
    const tail = [...movedLines(file), ...file.remapped.map(({ given, applied }) => `${given} is now ${applied}`)];
    return { title, body: file.shown, tail };
  });
  const certain = [...head, ...foot, ...blocks.flatMap(({ title, tail }) => [title, LEFT_OUT, ...tail])];
  let room = maxTextChars - charsOf(certain);
  const lines = [...head];
  for (const { title, body, tail } of blocks) {
    const more = charsOf(body) - charsOf([LEFT_OUT]);
    const fits = more <= room;
    if (fits) room -= more;
    lines.push(title, ...(fits ? body : [LEFT_OUT]), ...tail);
  }
  return [...lines, ...foot].join("\n");
}

const LEFT_OUT = "(diff left out: read the file again)";

function charsOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

const MOST_RUNS = 12;

/** Which numbers unchanged lines have now, or that all anchors have another width. */
function movedLines({ widthChanged, hashWidth, remap }: HashlineEditData["files"][number]): readonly string[] {
  if (widthChanged) return [`Anchors now have ${hashWidth} letters: take them from here or read again.`];
  if (remap.length === 0) return [];
  const runs = remap.slice(0, MOST_RUNS).map(({ from, to }) => `${showRun(from)} are now ${showRun(to)}`);
  const more = remap.length > MOST_RUNS ? ` and ${remap.length - MOST_RUNS} more runs moved: read again` : "";
  return [`Lines ${runs.join(", ")}${more}, hashes unchanged.`];
}

function showRun(range: readonly number[]): string {
  return range.join("-");
}
