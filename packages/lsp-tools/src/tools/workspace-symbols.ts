import { type AnyTool, defineTool } from "@toolhaft/core";
import type { SymbolInformation, WorkspaceSymbol } from "vscode-languageserver-protocol";
import { z } from "zod";
import { type Asked, askOne } from "../ask.ts";
import { conclude } from "../conclude.ts";
import { features } from "../features.ts";
import { beginCall, openFile } from "../open-file.ts";
import { shownIn } from "../places.ts";
import { at, callText, headline, pagedText, plural } from "../render/text.ts";
import { nothingServed, serversOfFolder } from "../workspace-search.ts";
import { type FoundSymbol, rankSymbols } from "../workspace-symbols.ts";
import { parameters } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

const name = "lsp_workspace_symbols";
const defaults = { limit: 100, offset: 0 };
type Result = (SymbolInformation | WorkspaceSymbol)[] | null;

export function workspaceSymbols(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const p = parameters(base);
  return anyTool(
    defineTool({
      name,
      title: "Symbols of the workspace",
      description: "Finds classes, functions and variables of the project by name.",
      inputSchema: z.object({
        query: z.string().min(1).max(256).describe("Name or part of it."),
        filePath: z.string().min(1).optional().describe("A file of the project."),
        kind: z.string().min(1).optional().describe("class, function …"),
        ...p.page(100),
      }),
      outputSchema: z.object({ ...schemas.answer, ...schemas.page, symbols: z.array(schemas.symbolInfo) }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const feature = features.workspaceSymbols;
        const file = input.filePath === undefined ? undefined : await openFile(call, input.filePath);
        const folder = file
          ? {
              found: file.served.serving.map((serving) => ({ serving, sample: file.text })),
              missing: file.served.missing,
            }
          : await serversOfFolder(call);
        if (folder.found.length === 0 && folder.missing.length === 0 && !file) throw nothingServed();
        const asked: Asked<Result>[] = await Promise.all(
          folder.found.map(({ serving, sample }) =>
            askOne<Result>(call, serving, {
              feature,
              file: { text: sample },
              isEmpty: (result) => (result?.length ?? 0) === 0,
              ask: async (session) => {
                const result = await session.request<Result>(feature.method, { query: input.query });
                return resolveRanges(result, (symbol) => session.request("workspaceSymbol/resolve", symbol));
              },
            }),
          ),
        );
        const symbols = asked.flatMap((one) => one.result ?? []);
        const all = rankSymbols(symbols, input, shownIn(call, file));
        const shown = input.filePath ?? "this folder";
        const answer = conclude({ feature, asked, missing: folder.missing, empty: all.length === 0, shown });
        const page: FoundSymbol[] = all.slice(input.offset, input.offset + input.limit);
        return { ...answer, total: all.length, offset: input.offset, shown: page.length, symbols: page };
      },
      render(output, input, toolName) {
        const what = `${input.kind ? `${input.kind} ` : ""}symbol`;
        if (output.total === 0) return headline(`No ${what} named ${input.query}`, output);
        const items = output.symbols.map((symbol) => {
          const container = symbol.container ? ` in ${symbol.container}` : "";
          return {
            group: symbol.kind,
            text: ` ${symbol.name}${container} ${symbol.path} ${at(symbol.selection.start, base)}`,
          };
        });
        return pagedText({
          header: headline(`${plural(output.total, what)} for ${input.query}`, output, base),
          items,
          page: output,
          answer: output,
          next: (offset) => callText(toolName(name), input, { offset }, defaults),
        });
      },
    }),
  );
}

/** Symbols without a range are completed by `workspaceSymbol/resolve`; one that cannot be stands at its file's start. */
async function resolveRanges(
  symbols: Result,
  resolve: (symbol: WorkspaceSymbol) => Promise<WorkspaceSymbol | null>,
): Promise<Result> {
  return Promise.all(
    (symbols ?? []).map(async (symbol) => {
      if ("range" in symbol.location) return symbol;
      const resolved = await resolve(symbol as WorkspaceSymbol).catch(() => null);
      return resolved ?? symbol;
    }),
  );
}
