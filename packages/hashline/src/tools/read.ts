import { type AnyTool, defineTool, ToolError } from "@toolhaft/core";
import * as z from "zod";
import { type AnchoredLine, annotate, showLine } from "../annotate.ts";
import { type Editor, shownPath } from "../editor.ts";
import { effectsOf } from "../effects.ts";
import { helpFind } from "../not-found.ts";
import { addRange, type Ranges } from "../ranges.ts";
import { readNotes } from "../read-notes.ts";
import { shortVersion } from "../resolve.ts";

const input = z.object({
  filePath: z.string().describe("Path."),
  offset: z.int().min(1).default(1).describe("First line, from 1."),
  limit: z.int().min(1).optional().describe("Most lines."),
});

const output = z.object({
  filePath: z.string(),
  version: z.string(),
  hashWidth: z.int(),
  totalLines: z.int(),
  startLine: z.int(),
  endLine: z.int(),
  lines: z.array(z.object({ line: z.int(), hash: z.string(), text: z.string(), hiddenChars: z.int().optional() })),
  nextOffset: z.int().optional(),
  encoding: z.string(),
  bom: z.boolean(),
  lineEnds: z.enum(["lf", "crlf", "mixed", "none"]),
  finalNewline: z.boolean(),
  notes: z.array(z.string()),
});

export type HashlineReadData = z.output<typeof output>;

const READ = "hashline_read";

export function readTool(editor: Editor): AnyTool {
  const { settings } = editor;
  return defineTool({
    name: READ,
    title: "Read a file with line anchors",
    description:
      "Read a text file as LINE#HASH|text, in parts when long. hashline_edit takes the anchors LINE#HASH and the version of the header.",
    keywords: ["cat", "view", "open", "show file", "line numbers"],
    inputSchema: input,
    outputSchema: output,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    maxTextChars: settings.maxTextChars,
    examples: [{ title: "Read lines 100 to 149", input: { filePath: "src/app.ts", offset: 100, limit: 50 } }],
    effects: ({ filePath }, ctx) => effectsOf("file.read", [filePath], ctx),
    async execute({ filePath, offset, limit }, ctx) {
      const workspace = editor.workspace(ctx);
      const file = await workspace.read(filePath, ctx).catch(async (error: unknown) => {
        throw await helpFind(error, workspace, [filePath], ctx);
      });
      const name = shownPath(ctx.directory, filePath);
      if (offset > Math.max(1, file.lineCount)) {
        const last = {
          filePath: name,
          offset: Math.max(1, file.lineCount - (limit ?? 100) + 1),
          ...(limit && { limit }),
        };
        throw new ToolError("invalid_input", `offset ${offset} is past the end: ${file.lineCount} lines`, {
          hint: `the last lines: ${ctx.toolName(READ)} ${JSON.stringify(last)}`,
        });
      }
      const hasher = await editor.hasher();
      const { lineEnds } = file;
      const head: Omit<HashlineReadData, "lines" | "endLine"> = {
        filePath: name,
        version: file.version,
        hashWidth: editor.codes(file, hasher).width,
        totalLines: file.lineCount,
        startLine: offset,
        encoding: file.encoding,
        bom: file.bom,
        lineEnds: lineEnds.crlf === 0 ? (lineEnds.lf === 0 ? "none" : "lf") : lineEnds.lf === 0 ? "crlf" : "mixed",
        finalNewline: file.finalNewline,
        notes: [...readNotes(file)],
      };
      const end = Math.min(file.lineCount, offset + (limit ?? file.lineCount) - 1);
      const room =
        settings.maxTextChars -
        renderRead({ ...head, lines: [], endLine: end, nextOffset: end }, limit, ctx.toolName).length -
        16;
      const lines = linesThatFit(room, offset, end, (from, to) =>
        annotate(file, hasher, { from, to }, { hashWidth: settings.hashWidth, maxLineChars: settings.maxLineChars }),
      );
      const endLine = offset + lines.length - 1;
      editor.remember(file, ctx.sessionId, shownRanges(lines));
      return { ...head, endLine, lines: [...lines], ...(endLine < file.lineCount ? { nextOffset: endLine + 1 } : {}) };
    },
    render: (data, { limit }, toolName) => renderRead(data, limit, toolName),
  });
}

/** Lines are annotated by the block until the reply is full; at least one is always there. */
const BLOCK = 512;

function linesThatFit(
  room: number,
  from: number,
  to: number,
  annotated: (from: number, to: number) => readonly AnchoredLine[],
): readonly AnchoredLine[] {
  const lines: AnchoredLine[] = [];
  let chars = 0;
  for (let start = from; start <= to; start += BLOCK) {
    for (const line of annotated(start, Math.min(to, start + BLOCK - 1))) {
      chars += showLine(line).length + 1;
      if (chars > room && lines.length > 0) return lines;
      lines.push(line);
    }
  }
  return lines;
}

function shownRanges(lines: readonly AnchoredLine[]): Ranges {
  let from: number | undefined;
  let ranges: Ranges = [];
  for (const [index, { line, hiddenChars }] of lines.entries()) {
    if (hiddenChars === undefined) from ??= line;
    const ends = hiddenChars !== undefined || index === lines.length - 1;
    if (!ends || from === undefined) continue;
    ranges = addRange(ranges, from, hiddenChars === undefined ? line : line - 1);
    from = undefined;
  }
  return ranges;
}

function renderRead(data: HashlineReadData, limit: number | undefined, toolName: (original: string) => string): string {
  const { filePath, version, hashWidth, totalLines, startLine, endLine, lines, nextOffset } = data;
  const head = [filePath, `version: ${shortVersion(version)}`, `hashWidth: ${hashWidth}`, `totalLines: ${totalLines}`];
  if (startLine > 1 || endLine < totalLines) head.push(`lines: ${startLine}-${endLine}`);
  head.push(...data.notes.map((note) => `note: ${note}`));
  if (totalLines === 0) head.push("(empty: append without pos)");
  const next = { filePath, offset: nextOffset, ...(limit === undefined ? {} : { limit }) };
  const foot = nextOffset === undefined ? [] : [`next: ${toolName(READ)} ${JSON.stringify(next)}`];
  return [...head, ...lines.map(showLine), ...foot].join("\n");
}
