import { type AnyTool, defineTool, ToolError } from "@toolhaft/core";
import type { SelectionRange } from "vscode-languageserver-protocol";
import { z } from "zod";
import type { Pos } from "../answer.ts";
import { askFirst } from "../ask.ts";
import { conclude } from "../conclude.ts";
import { features } from "../features.ts";
import { beginCall, openFile } from "../open-file.ts";
import { excerpt } from "../positions.ts";
import { at, clip, headline, notes, plural } from "../render/text.ts";
import { locate } from "../target.ts";
import { parameters } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

export function selectionRanges(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const p = parameters(base);
  const number = z.number().int().min(base);
  return anyTool(
    defineTool({
      name: "lsp_selection_ranges",
      title: "Selection ranges",
      description: "The syntax around a position, from the name outwards to the file, with exact bounds.",
      inputSchema: z.object({
        ...p.file,
        positions: z
          .array(z.object({ line: number.describe("Line."), character: number.describe("Column.") }))
          .min(1)
          .max(50)
          .optional()
          .describe("Starts."),
        symbol: p.symbol,
      }),
      outputSchema: z.object({
        ...schemas.answer,
        chains: z.array(
          z.object({ position: schemas.pos, ranges: z.array(schemas.range.extend({ text: z.string() })) }),
        ),
      }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const wanted = input.positions?.map((one) => ({ line: one.line - base, character: one.character - base }));
        if ((wanted === undefined) === (input.symbol === undefined)) {
          throw new ToolError("invalid_input", "positions: give positions or symbol, one of them", {
            hint: `ways: {"positions":[{"line":${4 + base},"character":${7 + base}}]} · {"symbol":"area"}`,
          });
        }
        const positions: Pos[] = [];
        for (const where of wanted ?? [{ symbol: input.symbol }]) {
          positions.push((await locate(call, file, where, { snap: "keep", base })).position);
        }
        const feature = features.selection;
        const asked = await askFirst<SelectionRange[] | null>(call, file.served.serving, {
          feature,
          file,
          isEmpty: (result) => (result?.length ?? 0) === 0,
          ask: (session) => session.request(feature.method, { textDocument: { uri: session.uri }, positions }),
        });
        const found = asked.find((one) => one.report.outcome === "answered")?.result ?? [];
        const answer = conclude({
          feature,
          asked,
          missing: file.served.missing,
          empty: found.length === 0,
          shown: file.shown,
        });
        const chains = found.map((chain, index) => ({
          position: positions[index] ?? chain.range.start,
          ranges: chainOf(chain).map((range) => ({
            ...range,
            text: excerpt(file.text.source.line(range.start.line).slice(range.start.character), 0, 60),
          })),
        }));
        return { ...answer, chains };
      },
      render(output, input) {
        if (output.chains.length === 0) return headline(`No selection ranges in ${input.filePath}`, output);
        const blocks = output.chains.map((chain) => {
          const ranges = chain.ranges.map((range) => ` ${at(range.start, base)}-${at(range.end, base)} ${range.text}`);
          return [`${at(chain.position, base)}`, ...ranges].join("\n");
        });
        const lead = `${plural(output.chains.length, "chain")} of ranges in ${input.filePath}`;
        return clip([headline(lead, output, base), ...blocks, ...notes(output)].join("\n"), 29_000);
      },
    }),
  );
}

function chainOf(chain: SelectionRange): SelectionRange["range"][] {
  const ranges: SelectionRange["range"][] = [];
  for (let at: SelectionRange | undefined = chain; at && ranges.length < 200; at = at.parent) {
    ranges.push({ start: at.range.start, end: at.range.end });
  }
  return ranges;
}
