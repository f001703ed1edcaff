import type { AnyTool } from "@toolhaft/core";
import type { CodeLens } from "vscode-languageserver-protocol";
import { z } from "zod";
import { features } from "../features.ts";
import { compareRanges, excerpt } from "../positions.ts";
import { at } from "../render/text.ts";
import { listTool } from "./list-tool.ts";
import * as schemas from "./schemas.ts";
import type { Toolbox } from "./toolbox.ts";

export function codeLens(toolbox: Toolbox): AnyTool {
  return listTool(toolbox, {
    name: "lsp_code_lens",
    title: "Code lenses",
    description: "What an editor shows above declarations: references, implementations, runnable tests.",
    feature: features.codeLens,
    noun: "code lens",
    field: "lenses",
    limit: 200,
    merge: true,
    extra: {},
    item: z.object({ range: schemas.range, title: z.string(), command: z.string().optional(), text: z.string() }),
    async ask(session, file) {
      const params = { textDocument: { uri: session.uri } };
      const lenses = await session.request<CodeLens[] | null>(features.codeLens.method, params);
      const resolved = await Promise.all(
        // a lens that cannot be resolved keeps its place and has no title
        (lenses ?? []).map(async (lens) =>
          lens.command
            ? lens
            : ((await session.request<CodeLens | null>("codeLens/resolve", lens).catch(() => null)) ?? lens),
        ),
      );
      return resolved.map((lens) => ({
        range: lens.range,
        title: lens.command?.title ?? "(no title)",
        ...(lens.command?.command && { command: lens.command.command }),
        text: excerpt(file.text.source.line(lens.range.start.line), lens.range.start.character),
      }));
    },
    order: (a, b) => compareRanges(a.range, b.range),
    key: (lens) => JSON.stringify([lens.range, lens.title]),
    render: (lenses, base) =>
      lenses.map((lens) => ({ text: `${at(lens.range.start, base)} ${lens.title} | ${lens.text}` })),
  });
}
