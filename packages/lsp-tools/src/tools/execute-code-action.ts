import { type AnyTool, defineTool, type FileChange, ToolError, toolOutput } from "@toolhaft/core";
import type { WorkspaceEdit } from "vscode-languageserver-protocol";
import { z } from "zod";
import type { EditData } from "../answer.ts";
import { askAll, askOne } from "../ask.ts";
import { type FoundAction, findActions, pickAction, runAction } from "../code-actions.ts";
import { conclude } from "../conclude.ts";
import { features } from "../features.ts";
import { beginCall, openFile } from "../open-file.ts";
import { editCount, editText } from "../render/edits.ts";
import { locateRange } from "../target.ts";
import { commitWorkspaceEdit, type EditOutcome } from "../workspace-edit/commit.ts";
import { parameters, whereRangeOf } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, type Toolbox, writes } from "./toolbox.ts";

interface Done {
  action: FoundAction;
  skipped: string[];
}

export function executeCodeAction(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const p = parameters(base);
  return anyTool(
    defineTool({
      name: "lsp_execute_code_action",
      title: "Execute a code action",
      description: "Runs a code action by title, and writes what it changes.",
      failureLead: "Nothing was written.",
      inputSchema: z.object({
        ...p.range,
        title: z.string().min(1).describe("As listed, or a unique part."),
        kind: z.string().min(1).optional().describe("Prefix."),
        dryRun: z.boolean().default(false).describe("Diff only."),
        confirmAnnotated: z.boolean().default(false).describe("Apply these, too."),
        server: z.string().min(1).optional().describe("Server id."),
      }),
      outputSchema: z.object({
        ...schemas.editData,
        title: z.string(),
        kind: z.string().optional(),
        server: z.string(),
      }),
      annotations: writes,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const range = await locateRange(call, file, whereRangeOf(input, base), base);
        const feature = features.codeActions;
        const serving = file.served.serving.filter(
          (one) => input.server === undefined || one.definition.id === input.server,
        );
        if (serving.length === 0 && file.served.serving.length > 0) {
          throw new ToolError("not_found", `no server "${input.server}" serves ${file.shown}`, {
            hint: `servers of this file: ${file.served.serving.map((one) => one.definition.id).join(", ")}`,
          });
        }
        const found = await askAll<FoundAction[]>(call, serving, {
          feature,
          file,
          isEmpty: (result) => result.length === 0,
          ask: (session) => findActions(call, session, range, input.kind),
        });
        const actions = found.flatMap((one) => (one.result ?? []).map((action) => ({ action, serving: one.serving })));
        const { missing } = file.served;
        if (actions.length === 0) conclude({ feature, asked: found, missing, empty: true, shown: file.shown });
        const picked = pickAction(actions, input.title);

        const applied: { outcome: EditOutcome; fileChanges: readonly FileChange[] }[] = [];
        let refusal: unknown;
        const done = await askOne<Done>(call, picked.serving, {
          feature,
          file,
          read: false,
          isEmpty: () => false,
          ask: async (session) => {
            const apply = async (edit: WorkspaceEdit) => {
              applied.push(await commitWorkspaceEdit(call, session.life, file, edit, input));
            };
            const fromServer = async (edit: unknown) => {
              try {
                await apply((edit ?? {}) as WorkspaceEdit);
                // a preview shows the edit and tells the server the truth
                return input.dryRun ? { applied: false, failureReason: "preview only" } : { applied: true };
              } catch (error) {
                refusal ??= error;
                return { applied: false, failureReason: error instanceof Error ? error.message : String(error) };
              }
            };
            // asked anew on this very process: what the action carries belongs to it
            const now = await findActions(call, session, range, input.kind);
            const { action } = pickAction(
              now.map((one) => ({ action: one })),
              picked.action.title,
            );
            const ran = await session.life.applyWith(fromServer, () =>
              runAction(session, action, { apply, dryRun: input.dryRun }),
            );
            return { action, skipped: ran.skipped };
          },
        });
        if (refusal !== undefined) throw refusal;
        if (done.error instanceof ToolError) throw done.error;
        const answer = conclude({
          feature,
          asked: [done],
          missing,
          empty: done.result === undefined,
          shown: file.shown,
        });
        const outcome = together(applied.map((one) => one.outcome));
        if (outcome.status === "no_change") {
          throw new ToolError("upstream", `"${picked.action.title}" changed nothing`, {
            hint: "look at what lsp_code_actions offers now",
          });
        }
        const kind = picked.action.kind;
        const skipped = done.result?.skipped ?? [];
        const data = {
          ...answer,
          ...outcome,
          ...(skipped.length > 0 && { skippedCommands: skipped }),
          title: picked.action.title,
          ...(kind !== undefined && { kind }),
          server: done.report.id,
        };
        return toolOutput(data, { fileChanges: applied.flatMap((one) => one.fileChanges) });
      },
      render(output) {
        const verb = output.status === "preview" ? "Preview, nothing written:" : "Done:";
        return editText(`${verb} ${output.title}: ${editCount(output as EditData)}`, output as EditData, base);
      },
    }),
  );
}

/** Several edits of one action as one outcome. */
function together(outcomes: readonly EditOutcome[]): EditOutcome {
  const effective = outcomes.filter((one) => one.status !== "no_change");
  const [first] = effective;
  if (!first) return { status: "no_change", totalFiles: 0, totalEdits: 0, files: [], annotations: [] };
  const files = effective.flatMap((one) => one.files);
  const diffs = effective.flatMap((one) => (one.diff === undefined ? [] : [one.diff]));
  return {
    status: first.status,
    totalFiles: new Set(files.map((file) => file.path)).size,
    totalEdits: effective.reduce((sum, one) => sum + one.totalEdits, 0),
    files,
    annotations: effective.flatMap((one) => one.annotations),
    ...(diffs.length > 0 && { diff: diffs.join("") }),
  };
}
