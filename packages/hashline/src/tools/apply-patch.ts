import { type AnyTool, defineTool, ToolError, toolOutput } from "@toolhaft/core";
import * as z from "zod";
import { type Editor, shownPath } from "../editor.ts";
import { effectsOf } from "../effects.ts";
import { helpFind } from "../not-found.ts";
import { type Patch, parsePatch } from "../patch.ts";
import { mergeSections, type PatchedFile, patchPaths, planPatch } from "../patch-plan.ts";
import { counts, replyWarnings } from "../reply.ts";
import { shortVersion } from "../resolve.ts";
import { editedFileShape, outcomeShape } from "../schemas.ts";
import { type PlannedFile, write } from "../write.ts";

const input = z.object({
  patch: z.string().describe('From "*** Begin Patch" to "*** End Patch".'),
  dry_run: z.boolean().default(false).describe("Write nothing."),
});

const output = z.object({
  ...outcomeShape,
  files: z.array(
    z.object({
      kind: z.enum(["add", "update", "delete", "move"]),
      filePath: z.string(),
      movedTo: z.string().optional(),
      file: z.object(editedFileShape).optional(),
      hunks: z.array(z.object({ line: z.int(), pass: z.string() })),
      additions: z.int(),
      deletions: z.int(),
    }),
  ),
});

export type ApplyPatchData = z.output<typeof output>;

const MAX_PATCH = 1024 * 1024;
const MAX_FILES = 200;

export function applyPatchTool(editor: Editor): AnyTool {
  return defineTool({
    name: "apply_patch",
    title: "Apply a patch",
    description:
      'Apply a V4A patch to many files, all or nothing. "*** Update File: path" holds hunks: "@@ enclosing line" (optional), then lines that begin with " ", "-" or "+"; "*** Move to: path" under it renames. In "*** Add File: path" every line begins with "+"; "*** Delete File: path" stands alone.',
    keywords: ["diff", "create file", "delete file", "rename", "multi-file"],
    inputSchema: input,
    outputSchema: output,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    maxTextChars: editor.settings.maxTextChars,
    failureLead: "Rejected, nothing written.",
    examples: [
      {
        title: "Change a line and add a file",
        input: {
          patch:
            "*** Begin Patch\n*** Update File: src/app.ts\n@@ export function start() {\n-  listen(8080);\n+  listen(port);\n*** Add File: src/port.ts\n+export const port = 8080;\n*** End Patch",
        },
      },
    ],
    effects: ({ patch }, ctx) => effectsOf("file.write", namedPaths(patch), ctx),
    async execute({ patch: text, dry_run: dryRun }, ctx) {
      const patch = checkedPatch(text);
      const paths = patchPaths(mergeSections(patch));
      const { files, outcome, fileChanges } = await write<PatchedFile>(editor, ctx, {
        paths,
        dryRun,
        plan: (present) =>
          planPatch(patch, present).files.map((file): PlannedFile<PatchedFile> => {
            const { path, to, bytes, changes, warnings } = file;
            const before = present.get(path);
            return { path, before, bytes, changes, warnings, extra: file, ...(to === undefined ? {} : { to }) };
          }),
      }).catch(async (error: unknown) => {
        throw await helpFind(error, editor.workspace(ctx), paths, ctx);
      });
      const data: ApplyPatchData = {
        ...outcome,
        files: files.map(({ planned: { extra }, edited, change }) => ({
          kind: extra.kind,
          filePath: shownPath(ctx.directory, extra.path),
          ...(extra.to === undefined ? {} : { movedTo: shownPath(ctx.directory, extra.to) }),
          ...(edited === undefined ? {} : { file: edited }),
          hunks: [...extra.hunks],
          additions: change.additions,
          deletions: change.deletions,
        })),
      };
      return toolOutput(data, { fileChanges });
    },
    render: renderPatch,
  });
}

function checkedPatch(text: string): Patch {
  const size = Buffer.byteLength(text);
  if (size > MAX_PATCH) {
    throw new ToolError("too_large", `the patch holds ${size} bytes, the limit is ${MAX_PATCH}`, {
      hint: "split it into several calls",
    });
  }
  const patch = parsePatch(text);
  if (patch.sections.length > MAX_FILES) {
    throw new ToolError("too_large", `the patch has ${patch.sections.length} sections, the limit is ${MAX_FILES}`, {
      hint: "split it into several calls",
    });
  }
  return patch;
}

/** Paths as far as the patch can be read; one that cannot is refused before anything is touched. */
function namedPaths(text: string): readonly string[] {
  try {
    return patchPaths(mergeSections(parsePatch(text)));
  } catch (error) {
    if (error instanceof ToolError) return [];
    throw error;
  }
}

const letters = { add: "A", update: "M", delete: "D", move: "R" } as const;

function renderPatch(data: ApplyPatchData): string {
  const lines = data.dryRun ? ["Dry run, nothing written."] : [];
  for (const { kind, filePath, movedTo, file, additions, deletions } of data.files) {
    const name = movedTo === undefined ? filePath : `${filePath} -> ${movedTo}`;
    const pureMove = kind === "move" && additions + deletions === 0;
    const sizes = pureMove ? "" : `  ${counts(additions, deletions)}`;
    const version = file === undefined || pureMove ? "" : `  version: ${shortVersion(file.version)}`;
    lines.push(`${letters[kind]} ${name}${sizes}${version}`);
  }
  return [...lines, ...replyWarnings(data)].join("\n");
}
