import { type AnyTool, defineTool } from "@toolhaft/core";
import { z } from "zod";
import { askAll } from "../ask.ts";
import { type FoundAction, findActions } from "../code-actions.ts";
import { conclude } from "../conclude.ts";
import { features } from "../features.ts";
import { beginCall, openFile } from "../open-file.ts";
import { callText, headline, pagedText, plural } from "../render/text.ts";
import { locateRange } from "../target.ts";
import { parameters, whereRangeOf } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

const name = "lsp_code_actions";
const defaults = { limit: 100, offset: 0 };

export function codeActions(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const p = parameters(base);
  return anyTool(
    defineTool({
      name,
      title: "Code actions",
      description:
        "Quick fixes, refactorings and source actions for a range or symbol. lsp_execute_code_action runs one.",
      inputSchema: z.object({
        ...p.range,
        kind: z.string().min(1).optional().describe("Prefix: quickfix, refactor, source."),
        ...p.page(100),
      }),
      outputSchema: z.object({
        ...schemas.answer,
        ...schemas.page,
        actions: z.array(
          z.object({
            title: z.string(),
            kind: z.string().optional(),
            server: z.string(),
            preferred: z.literal(true).optional(),
            disabled: z.string().optional(),
            shape: z.enum(["edit", "resolve", "server_command", "client_command"]),
            fixes: z.array(z.string()).optional(),
          }),
        ),
      }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const range = await locateRange(call, file, whereRangeOf(input, base), base);
        const feature = features.codeActions;
        const asked = await askAll<FoundAction[]>(call, file.served.serving, {
          feature,
          file,
          isEmpty: (result) => result.length === 0,
          ask: (session) => findActions(call, session, range, input.kind),
        });
        const all = asked.flatMap((one) => (one.result ?? []).map((action) => describe(action, one.report.id)));
        const answer = conclude({
          feature,
          asked,
          missing: file.served.missing,
          empty: all.length === 0,
          shown: file.shown,
        });
        const actions = all.slice(input.offset, input.offset + input.limit);
        return { ...answer, total: all.length, offset: input.offset, shown: actions.length, actions };
      },
      render(output, input, toolName) {
        if (output.total === 0) return headline(`No code actions there in ${input.filePath}`, output);
        const items = output.actions.map((one) => {
          const marks = [
            one.kind ?? "command",
            one.preferred ? "preferred" : "",
            one.fixes?.length ? `fixes ${one.fixes.join(", ")}` : "",
            one.disabled !== undefined ? `disabled: ${one.disabled}` : "",
          ];
          return { group: one.server, text: ` ${one.title} (${marks.filter((mark) => mark !== "").join("; ")})` };
        });
        return pagedText({
          header: headline(`${plural(output.total, "code action")} in ${input.filePath}`, output),
          items,
          page: output,
          answer: output,
          next: (offset) => callText(toolName(name), input, { offset }, defaults),
        });
      },
    }),
  );
}

function describe(action: FoundAction, server: string) {
  return {
    title: action.title,
    ...(action.kind !== undefined && { kind: action.kind }),
    server,
    ...(action.preferred && { preferred: true as const }),
    ...(action.disabled !== undefined && { disabled: action.disabled }),
    shape: action.shape,
    ...(action.fixes.length > 0 && { fixes: action.fixes }),
  };
}
