import { type AnyTool, defineTool } from "@toolhaft/core";
import type { DocumentSymbol, SymbolInformation } from "vscode-languageserver-protocol";
import { z } from "zod";
import { askFirst } from "../ask.ts";
import { conclude } from "../conclude.ts";
import { features } from "../features.ts";
import { beginCall, openFile } from "../open-file.ts";
import { at, callText, headline, pagedText, plural } from "../render/text.ts";
import { addressAll } from "../symbol-address.ts";
import { flattenSymbols } from "../symbols.ts";
import { parameters } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

const name = "lsp_document_symbols";
const defaults = { limit: 500, offset: 0 };

export function documentSymbols(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const p = parameters(base);
  return anyTool(
    defineTool({
      name,
      title: "Symbols of a document",
      description: "Outline of a file: classes, functions, members. Use first on a file you do not know.",
      inputSchema: z.object({
        ...p.file,
        depth: z.number().int().min(1).max(16).optional().describe("Levels; default all."),
        ...p.page(500),
      }),
      outputSchema: z.object({ ...schemas.answer, ...schemas.page, symbols: z.array(schemas.symbolInfo) }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const feature = features.documentSymbols;
        const asked = await askFirst<(DocumentSymbol | SymbolInformation)[] | null>(call, file.served.serving, {
          feature,
          file,
          isEmpty: (result) => (result?.length ?? 0) === 0,
          ask: (session) => session.request(feature.method, { textDocument: { uri: session.uri } }),
        });
        const result = asked.find((one) => one.report.outcome === "answered")?.result;
        const flat = flattenSymbols(result, file.text.source);
        const addresses = addressAll(flat);
        const all = flat
          .map((symbol, index) => {
            const { ancestors, ...rest } = symbol;
            const container = ancestors.join("/");
            return {
              path: file.shown,
              symbol: addresses[index] ?? symbol.name,
              ...rest,
              ...(container !== "" && { container }),
            };
          })
          .filter((symbol) => symbol.depth < (input.depth ?? Number.POSITIVE_INFINITY));
        const answer = conclude({
          feature,
          asked,
          missing: file.served.missing,
          empty: all.length === 0,
          shown: file.shown,
        });
        const symbols = all.slice(input.offset, input.offset + input.limit);
        return { ...answer, total: all.length, offset: input.offset, shown: symbols.length, symbols };
      },
      render(output, input, toolName) {
        if (output.total === 0) return headline(`No symbols in ${input.filePath}`, output);
        const items = output.symbols.map((symbol) => {
          const span =
            symbol.range.end.line > symbol.range.start.line
              ? ` [${symbol.range.start.line + base}-${symbol.range.end.line + base}]`
              : "";
          const old = symbol.deprecated ? " deprecated" : "";
          return {
            text: `${"  ".repeat(symbol.depth)}${symbol.kind} ${symbol.name} ${at(symbol.selection.start, base)}${span}${old}`,
          };
        });
        return pagedText({
          header: headline(
            `${plural(output.total, "symbol")} in ${output.symbols[0]?.path ?? input.filePath}`,
            output,
            base,
          ),
          items,
          page: output,
          answer: output,
          next: (offset) => callText(toolName(name), input, { offset }, defaults),
        });
      },
    }),
  );
}
