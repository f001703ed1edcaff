import { type AnyTool, defineTool } from "@toolhaft/core";
import type { Location } from "vscode-languageserver-protocol";
import { z } from "zod";
import type { Place } from "../answer.ts";
import { askAll } from "../ask.ts";
import { conclude } from "../conclude.ts";
import { features } from "../features.ts";
import { beginCall, openFile } from "../open-file.ts";
import { pageOfPlaces, spotsOf } from "../places.ts";
import { placeItems, positionItems } from "../render/places.ts";
import { callText, headline, pagedText, plural, targetText } from "../render/text.ts";
import { withBlocks } from "../source-block.ts";
import { locate } from "../target.ts";
import { parameters, whereOf } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

const name = "lsp_find_references";
const defaults = { limit: 200, offset: 0, includeDeclaration: true, detail: "line" };

export function findReferences(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const p = parameters(base);
  return anyTool(
    defineTool({
      name,
      title: "Find references",
      description: "Every use of a name in the whole project, by file. Use before renaming, changing or deleting it.",
      inputSchema: z.object({
        ...p.position,
        includeDeclaration: z.boolean().default(true).describe("Count it too."),
        detail: z.enum(["positions", "line", "block"]).default("line").describe("Text shown."),
        ...p.page(200),
      }),
      outputSchema: z.object({
        ...schemas.answer,
        ...schemas.page,
        places: z.array(schemas.place),
        files: z.number().int(),
      }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const target = await locate(call, file, whereOf(input, base), { snap: "nearest", base });
        const feature = features.references;
        const asked = await askAll<Location[] | null>(call, file.served.serving, {
          feature,
          file,
          isEmpty: (result) => spotsOf(result).length === 0,
          ask: (session) =>
            session.request(feature.method, {
              textDocument: { uri: session.uri },
              position: target.position,
              context: { includeDeclaration: input.includeDeclaration },
            }),
        });
        const spots = asked.flatMap((one) => spotsOf(one.result));
        const places = await pageOfPlaces(call, file, spots, input);
        const empty = places.total === 0;
        const answer = conclude({ feature, asked, missing: file.served.missing, empty, shown: file.shown });
        const detailed = input.detail === "block" ? await withBlocks(call, file, places.places) : places.places;
        return { target, ...answer, ...places, places: detailed };
      },
      render(output, input, toolName) {
        const target = targetText(output.target, base);
        if (output.total === 0) return headline(`No references to ${target}`, output);
        const lead = `${plural(output.total, "reference")} to ${target} in ${plural(output.files, "file")}`;
        const places = output.places as Place[];
        return pagedText({
          header: headline(lead, output, base),
          items: input.detail === "positions" ? positionItems(places, base) : placeItems(places, base),
          page: output,
          answer: output,
          next: (offset) => callText(toolName(name), input, { offset }, defaults),
        });
      },
    }),
  );
}
