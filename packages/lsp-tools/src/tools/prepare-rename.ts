import { type AnyTool, defineTool } from "@toolhaft/core";
import type { PrepareRenameResult } from "vscode-languageserver-protocol";
import { z } from "zod";
import type { Range } from "../answer.ts";
import { conclude } from "../conclude.ts";
import { ResponseError } from "../connection.ts";
import { features } from "../features.ts";
import { beginCall, openFile } from "../open-file.ts";
import { askOwner } from "../owner.ts";
import { canPrepareRename } from "../rename.ts";
import { at, headline, notes, targetText } from "../render/text.ts";
import { locate } from "../target.ts";
import { parameters, whereOf } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

interface Prepared {
  renameable: "yes" | "no" | "unverified";
  range?: Range;
  placeholder?: string;
  reason?: string;
}

export function prepareRename(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  return anyTool(
    defineTool({
      name: "lsp_prepare_rename",
      title: "Check a rename",
      description: "Whether a name can be renamed, and its exact range. Changes nothing.",
      inputSchema: z.object(parameters(base).position),
      outputSchema: z.object({
        ...schemas.answer,
        renameable: z.enum(["yes", "no", "unverified"]),
        range: schemas.range.optional(),
        placeholder: z.string().optional(),
        reason: z.string().optional(),
      }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const target = await locate(call, file, whereOf(input, base), { snap: "nearest", base });
        const feature = features.prepareRename;
        const asked = await askOwner<Prepared>(
          call,
          file,
          {
            feature,
            file,
            isEmpty: () => false,
            supported: (life, document) => life.supports(features.rename.method, feature.provider, document),
            ask: async (session) => {
              if (!canPrepareRename(session)) return { renameable: "unverified" };
              try {
                const params = { textDocument: { uri: session.uri }, position: target.position };
                return describe(await session.request<PrepareRenameResult | null>(feature.method, params));
              } catch (error) {
                // servers refuse with an error whose message is the reason
                if (!(error instanceof ResponseError) || error.code === -32601) throw error;
                return { renameable: "no", reason: error.message };
              }
            },
          },
          { lintersFirst: false },
        );
        const { missing } = file.served;
        const prepared = asked.find((one) => one.result)?.result;
        const answer = conclude({ feature: features.rename, asked, missing, empty: !prepared, shown: file.shown });
        return { target, ...answer, ...(prepared ?? { renameable: "unverified" as const }) };
      },
      render(output) {
        const of = targetText(output.target, base);
        const range = output.range ? ` ${at(output.range.start, base)}-${at(output.range.end, base)}` : "";
        const name = output.placeholder === undefined ? "" : ` (${output.placeholder})`;
        const leads = {
          yes: `${of} can be renamed${range}${name}`,
          no: `${of} cannot be renamed: ${output.reason ?? "the server says so without a reason"}`,
          unverified: `${of}: this server renames but cannot check beforehand`,
        };
        return [headline(leads[output.renameable], output, base), ...notes(output)].join("\n");
      },
    }),
  );
}

function describe(result: PrepareRenameResult | null): Prepared {
  if (!result) return { renameable: "no" };
  if ("defaultBehavior" in result) return result.defaultBehavior ? { renameable: "yes" } : { renameable: "no" };
  if ("placeholder" in result) return { renameable: "yes", range: result.range, placeholder: result.placeholder };
  return { renameable: "yes", range: result };
}
