import { type AnyTool, defineTool, ToolError, toolOutput } from "@toolhaft/core";
import { z } from "zod";
import type { EditData } from "../answer.ts";
import { conclude } from "../conclude.ts";
import { features } from "../features.ts";
import { beginCall, openFile } from "../open-file.ts";
import { askOwner } from "../owner.ts";
import { shownIn } from "../places.ts";
import { askRename, checkNewName, type RenameAnswer } from "../rename.ts";
import { editCount, editText } from "../render/edits.ts";
import { at } from "../render/text.ts";
import type { ServerLife } from "../server.ts";
import { locate } from "../target.ts";
import { commitWorkspaceEdit } from "../workspace-edit/commit.ts";
import { isEmptyEdit } from "../workspace-edit/is-empty.ts";
import { parameters, whereOf } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, type Toolbox, writes } from "./toolbox.ts";

export function rename(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  return anyTool(
    defineTool({
      name: "lsp_rename",
      title: "Rename",
      description: "Renames a symbol everywhere in the project, all or nothing.",
      failureLead: "Nothing was written.",
      inputSchema: z.object({
        ...parameters(base).position,
        newName: z.string().describe("The new name."),
        dryRun: z.boolean().default(false).describe("Diff only."),
        confirmAnnotated: z.boolean().default(false).describe("Apply these, too."),
        server: z.string().min(1).optional().describe("Server id."),
      }),
      outputSchema: z.object({
        ...schemas.editData,
        oldName: z.string().optional(),
        newName: z.string(),
        definition: z.object({ path: z.string(), position: schemas.pos }).optional(),
      }),
      annotations: writes,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const target = await locate(call, file, whereOf(input, base), { snap: "refuse", base });
        checkNewName(input.newName, target.name);
        const feature = features.rename;
        type Asked = RenameAnswer & { life: ServerLife };
        const asked = await askOwner<Asked>(
          call,
          file,
          {
            feature,
            file,
            read: true,
            insistOnLoaded: true,
            isEmpty: () => false,
            ask: async (session) => ({
              life: session.life,
              ...(await askRename(call, file, target, session, input.newName)),
            }),
          },
          { server: input.server, lintersFirst: false },
        );
        const { missing } = file.served;
        const owner = asked.find((one) => one.result !== undefined);
        const result = owner?.result;
        const partial =
          result && result.uncovered > 0 ? `${result.uncovered} files with the name could not be opened` : undefined;
        const answer = conclude({ feature, asked, missing, empty: result === undefined, partial, shown: file.shown });
        if (!result) throw new ToolError("internal", "a rename without an answer");
        if (owner?.partial?.includes("changed at once")) {
          throw new ToolError("unavailable", `${owner.report.id} has not taken in all changes: ${owner.partial}`, {
            retryable: true,
            hint: "call again in a moment",
            details: { retryAfterMs: 1_000 },
          });
        }
        if (!result.edit || isEmptyEdit(result.edit)) {
          throw new ToolError(
            "invalid_input",
            `${owner?.report.id ?? "the server"} found nothing to rename at ${file.shown} ${at(target.position, base)}`,
            {
              hint: "point at a name that is defined in the project",
            },
          );
        }
        const { outcome, fileChanges } = await commitWorkspaceEdit(call, result.life, file, result.edit, input);
        const shown = shownIn(call, file);
        const definition = result.definition && { ...result.definition, path: shown(result.definition.path) };
        const data = {
          target,
          ...answer,
          ...outcome,
          ...(target.name !== undefined && { oldName: target.name }),
          newName: input.newName,
          ...(definition && { definition }),
        };
        return toolOutput(data, { fileChanges });
      },
      render(output) {
        const verb = {
          applied: "Renamed",
          preview: "Preview, nothing written: rename",
          no_change: "Nothing to change: rename",
        };
        const { definition } = output;
        const there = definition ? ` (at its definition ${definition.path} ${at(definition.position, base)})` : "";
        const lead = `${verb[output.status]} ${output.oldName ?? "the symbol"} → ${output.newName}${there}: ${editCount(output as EditData)}`;
        return editText(lead, output as EditData, base);
      },
    }),
  );
}
