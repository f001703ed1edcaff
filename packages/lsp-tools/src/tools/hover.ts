import { type AnyTool, defineTool } from "@toolhaft/core";
import type { Hover } from "vscode-languageserver-protocol";
import { z } from "zod";
import { askAll } from "../ask.ts";
import { conclude } from "../conclude.ts";
import { features } from "../features.ts";
import { hoverMarkdown } from "../hover-text.ts";
import { beginCall, openFile } from "../open-file.ts";
import { clip, headline, notes, targetText } from "../render/text.ts";
import { locate } from "../target.ts";
import { parameters, whereOf } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

const maxContents = 4_000;

export function hover(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  return anyTool(
    defineTool({
      name: "lsp_hover",
      title: "Hover",
      description: "Type, signature and documentation of a name, without opening its definition.",
      inputSchema: z.object(parameters(base).position),
      outputSchema: z.object({
        ...schemas.answer,
        hovers: z.array(z.object({ server: z.string(), contents: z.string(), range: schemas.range.optional() })),
      }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const target = await locate(call, file, whereOf(input, base), { snap: "nearest", base });
        const feature = features.hover;
        const asked = await askAll<Hover | null>(call, file.served.serving, {
          feature,
          file,
          isEmpty: (result) => hoverMarkdown(result) === "",
          ask: (session) =>
            session.request(feature.method, { textDocument: { uri: session.uri }, position: target.position }),
        });
        const hovers = asked.flatMap((one) => {
          const contents = hoverMarkdown(one.result);
          if (contents === "") return [];
          const range = one.result?.range;
          return [{ server: one.report.id, contents: clip(contents, maxContents), ...(range && { range }) }];
        });
        const empty = hovers.length === 0;
        const answer = conclude({ feature, asked, missing: file.served.missing, empty, shown: file.shown });
        return { target, ...answer, hovers };
      },
      render(output) {
        const target = targetText(output.target, base);
        const lead = output.hovers.length === 0 ? `No hover text for ${target}` : target;
        const blocks = output.hovers.map((one) =>
          output.hovers.length > 1 ? `[${one.server}]\n${one.contents}` : one.contents,
        );
        return [headline(lead, output, base), ...blocks, ...notes(output)].join("\n");
      },
    }),
  );
}
