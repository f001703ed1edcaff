import { type AnyTool, defineTool, ToolError, toolOutput } from "@toolhaft/core";
import type { TextEdit } from "vscode-languageserver-protocol";
import { z } from "zod";
import type { EditData, Range } from "../answer.ts";
import { conclude } from "../conclude.ts";
import type { Feature } from "../features.ts";
import { formattingOptions } from "../formatting.ts";
import { beginCall, openFile } from "../open-file.ts";
import { askOwner } from "../owner.ts";
import { editText } from "../render/edits.ts";
import { headline, notes, plural } from "../render/text.ts";
import type { ServerLife } from "../server.ts";
import { locateRange, type WhereRange } from "../target.ts";
import { commitWorkspaceEdit } from "../workspace-edit/commit.ts";
import { applyOffsets, toOffsets } from "../workspace-edit/offsets.ts";
import { parameters, whereRangeOf } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, type Toolbox, writes } from "./toolbox.ts";

interface FormatTool {
  name: string;
  title: string;
  description: string;
  feature: Feature;
  range: boolean;
}

/** The two formatting tools: of a document, and of a range. */
export function formatTool(toolbox: Toolbox, spec: FormatTool): AnyTool {
  const { base } = toolbox;
  const p = parameters(base);
  return anyTool(
    defineTool({
      name: spec.name,
      title: spec.title,
      description: spec.description,
      failureLead: "Nothing was written.",
      inputSchema: z.object({
        ...(spec.range ? p.range : p.file),
        filePath: p.filePath,
        dryRun: z.boolean().default(false).describe("Diff only."),
        tabSize: z.number().int().min(1).max(16).optional().describe("Default: .editorconfig, file."),
        insertSpaces: z.boolean().optional().describe("Spaces, not tabs."),
        server: z.string().min(1).optional().describe("Server id."),
      }),
      outputSchema: z.object({ ...schemas.editData, content: z.string().optional() }),
      annotations: writes,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const where = whereRangeOf(input as WhereRange, base);
        const range: Range | undefined = spec.range ? await locateRange(call, file, where, base) : undefined;
        const options = await formattingOptions(file, input);
        const { feature } = spec;
        type Formatted = { life: ServerLife; edits: TextEdit[] };
        const asked = await askOwner<Formatted>(
          call,
          file,
          {
            feature,
            file,
            isEmpty: () => false,
            ask: async (session) => {
              const params = { textDocument: { uri: session.uri }, options, ...(range && { range }) };
              const edits = await session.request<TextEdit[] | null>(feature.method, params);
              return { life: session.life, edits: edits ?? [] };
            },
          },
          { server: input.server, lintersFirst: true },
        );
        const { missing } = file.served;
        const result = asked.find((one) => one.result !== undefined)?.result;
        const answer = conclude({ feature, asked, missing, empty: result === undefined, shown: file.shown });
        if (!result) throw new ToolError("internal", "formatting without an answer");
        const uri = result.life.documents.get(file.text.path)?.uri;
        if (uri === undefined)
          throw new ToolError("conflict", `${file.shown} was closed while it was formatted`, { hint: "call again" });
        const edit = { changes: { [uri]: result.edits } };
        const commit = { dryRun: input.dryRun, confirmAnnotated: false };
        const { outcome, fileChanges } = await commitWorkspaceEdit(call, result.life, file, edit, commit);
        const { text } = file.text.source;
        const content = input.dryRun ? applyOffsets(text, toOffsets(file.shown, text, result.edits)) : undefined;
        return toolOutput({ ...answer, ...outcome, ...(content !== undefined && { content }) }, { fileChanges });
      },
      render(output, input) {
        const [file] = output.files;
        const path = file?.path ?? input.filePath;
        if (output.status === "no_change" || !file) {
          return [headline(`${path} is already formatted`, output), ...notes(output)].join("\n");
        }
        const changed = Math.max(file.added, file.removed);
        const counts = `${plural(changed, "line")} changed (+${file.added} -${file.removed})`;
        const lead = `${output.status === "preview" ? "Preview, nothing written:" : "Formatted"} ${path}: ${counts}`;
        if (output.status === "applied") return [headline(lead, output), ...notes(output)].join("\n");
        return editText(lead, { ...(output as EditData), files: [] }, base);
      },
    }),
  );
}
