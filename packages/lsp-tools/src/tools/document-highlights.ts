import { type AnyTool, defineTool } from "@toolhaft/core";
import type { DocumentHighlight } from "vscode-languageserver-protocol";
import { z } from "zod";
import type { Place } from "../answer.ts";
import { askFirst } from "../ask.ts";
import { conclude } from "../conclude.ts";
import { features } from "../features.ts";
import { beginCall, openFile } from "../open-file.ts";
import { compareRanges, excerpt } from "../positions.ts";
import { lineColumns } from "../render/places.ts";
import { callText, headline, pagedText, plural, targetText } from "../render/text.ts";
import { locate } from "../target.ts";
import { parameters, whereOf } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

const name = "lsp_document_highlights";
const access = ["text", "read", "write"] as const;
const defaults = { limit: 200, offset: 0 };

export function documentHighlights(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const p = parameters(base);
  return anyTool(
    defineTool({
      name,
      title: "Highlights in the document",
      description: "Every use of a name inside one file, read (r) or write (w). Faster than references.",
      inputSchema: z.object({ ...p.position, ...p.page(200) }),
      outputSchema: z.object({
        ...schemas.answer,
        ...schemas.page,
        places: z.array(schemas.place.extend({ access: z.enum(access) })),
        files: z.number().int(),
      }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const target = await locate(call, file, whereOf(input, base), { snap: "nearest", base });
        const feature = features.highlights;
        const asked = await askFirst<DocumentHighlight[] | null>(call, file.served.serving, {
          feature,
          file,
          isEmpty: (result) => (result?.length ?? 0) === 0,
          ask: (session) =>
            session.request(feature.method, { textDocument: { uri: session.uri }, position: target.position }),
        });
        const found = asked.find((one) => one.report.outcome === "answered")?.result ?? [];
        const all = [...found].sort((a, b) => compareRanges(a.range, b.range));
        const answer = conclude({
          feature,
          asked,
          missing: file.served.missing,
          empty: all.length === 0,
          shown: file.shown,
        });
        const places = all.slice(input.offset, input.offset + input.limit).map((one) => ({
          path: file.shown,
          range: one.range,
          text: excerpt(file.text.source.line(one.range.start.line), one.range.start.character),
          access: access[(one.kind ?? 1) - 1] ?? ("text" as const),
        }));
        const page = { total: all.length, offset: input.offset, shown: places.length };
        return { target, ...answer, ...page, places, files: all.length > 0 ? 1 : 0 };
      },
      render(output, input, toolName) {
        const target = targetText(output.target, base);
        if (output.total === 0) return headline(`No highlights of ${target}`, output);
        const marks = { read: "r", write: "w", text: "" };
        const items = output.places.map((place) => ({
          text: lineColumns([place as Place], base, () => marks[place.access]),
        }));
        return pagedText({
          header: headline(`${plural(output.total, "highlight")} of ${target}`, output, base),
          items: joinByLine(items.map((item) => item.text)),
          page: output,
          answer: output,
          next: (offset) => callText(toolName(name), input, { offset }, defaults),
        });
      },
    }),
  );
}

/** "12:4w" and "12:9" become "12:4w,9"; twenty to a row. */
function joinByLine(cells: readonly string[]): { text: string; count: number }[] {
  const joined: { text: string; count: number }[] = [];
  for (const cell of cells) {
    const [line = "", column = ""] = cell.split(":");
    const last = joined.at(-1);
    const lastLine = last?.text.split(" ").at(-1)?.split(":")[0];
    if (last && lastLine === line) last.text += `,${column}`;
    else if (last && last.count < 20) last.text += ` ${cell}`;
    else joined.push({ text: cell, count: 0 });
    const now = joined.at(-1);
    if (now) now.count++;
  }
  return joined;
}
