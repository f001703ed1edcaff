import { resolve } from "node:path";
import { type AnyTool, defineTool, type FileChange, type ToolContext, ToolError, toolOutput } from "@toolhaft/core";
import type { CommitRecord } from "@toolhaft/workspace";
import * as z from "zod";
import { type Editor, shownPath } from "../editor.ts";
import { counts, replyWarnings } from "../reply.ts";
import { shortVersion } from "../resolve.ts";
import { outcomeShape } from "../schemas.ts";

const input = z.object({
  commit: z.string().optional().describe("Commit id; default: this session's newest."),
  dry_run: z.boolean().default(false).describe("Write nothing."),
});

const output = z.object({
  ...outcomeShape,
  undone: z.string(),
  files: z.array(
    z.object({ filePath: z.string(), version: z.string().nullable(), additions: z.int(), deletions: z.int() }),
  ),
  remaining: z.int(),
});

export type UndoEditData = z.output<typeof output>;

export function undoEditTool(editor: Editor): AnyTool {
  return defineTool({
    name: "undo_edit",
    title: "Undo an edit",
    description: "Take back a write of these tools, whole, if no file changed since. An undo can be undone by its id.",
    keywords: ["revert", "rollback", "redo", "restore"],
    inputSchema: input,
    outputSchema: output,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    maxTextChars: editor.settings.maxTextChars,
    failureLead: "Rejected, nothing written.",
    examples: [{ title: "Take back the last edit", input: {} }],
    async execute({ commit, dry_run: dryRun }, ctx) {
      const workspace = editor.workspace(ctx);
      const history = await workspace.history();
      const chosen = commit === undefined ? open(history, ctx)[0] : history.find(({ id }) => id === commit);
      if (!chosen) throw nothing(history, commit, ctx);
      const done = await workspace.undo(chosen.id, ctx, { dryRun });
      const left = open(history, ctx).filter(({ id }) => id !== chosen.id);
      const data: UndoEditData = {
        dryRun,
        ...(done.id === undefined ? {} : { commitId: done.id }),
        notes: [...done.notes],
        warnings: [],
        undone: chosen.id,
        files: done.changes.map((change) => fileOf(change, ctx)),
        remaining: left.length,
      };
      return toolOutput(data, { fileChanges: done.changes });
    },
    render: renderUndo,
  });
}

/** Commits of this session that an undo without an id would take back, newest first. */
function open(history: readonly CommitRecord[], ctx: ToolContext): readonly CommitRecord[] {
  return history.filter(({ sessionId, undoOf, undone }) => sessionId === ctx.sessionId && !undoOf && !undone);
}

function fileOf(change: FileChange, ctx: ToolContext): UndoEditData["files"][number] {
  const { path, after, additions, deletions } = change;
  return {
    filePath: shownPath(ctx.directory, resolve(ctx.directory, path)),
    version: after?.version ?? null,
    additions,
    deletions,
  };
}

function nothing(history: readonly CommitRecord[], commit: string | undefined, ctx: ToolContext): ToolError {
  const last = history.slice(0, 5).map(({ id, files }) => ({
    id,
    files: files.map(({ path }) => shownPath(ctx.directory, path)),
  }));
  const list = last.map(({ id, files }) => `${id}  ${files.join(", ")}`);
  const what = commit === undefined ? "this session has nothing to undo" : `no commit ${commit} is kept`;
  return new ToolError("not_found", list.length > 0 ? `${what}. The last commits:\n${list.join("\n")}` : what, {
    hint: list.length > 0 ? "name one of these commits" : "nothing was written here yet, or it is no longer kept",
    details: { commits: last },
  });
}

function renderUndo(data: UndoEditData): string {
  const { dryRun, undone, files, commitId, remaining } = data;
  const lines = [dryRun ? `Dry run, nothing written. Would undo ${undone}:` : `Undone: ${undone}`];
  for (const { filePath, version, additions, deletions } of files) {
    const now = version === null ? "removed" : `version: ${shortVersion(version)}`;
    lines.push(`${filePath}  ${now}  ${counts(additions, deletions)}`);
  }
  if (commitId !== undefined) lines.push(`This undo is ${commitId}: pass it as commit to redo.`);
  lines.push(remaining === 0 ? "No more to undo." : `${remaining} more to undo.`);
  return [...lines, ...replyWarnings(data)].join("\n");
}
