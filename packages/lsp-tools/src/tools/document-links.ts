import { type AnyTool, defineTool } from "@toolhaft/core";
import type { DocumentLink } from "vscode-languageserver-protocol";
import { z } from "zod";
import { features } from "../features.ts";
import { compareRanges, cutText } from "../positions.ts";
import { at } from "../render/text.ts";
import { createListing } from "./listing.ts";
import { parameters } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

export function documentLinks(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const item = z.object({
    range: schemas.range,
    target: z.string().optional(),
    tooltip: z.string().optional(),
    text: z.string(),
  });
  const { file, page } = parameters(base);
  const inputSchema = z.object({ ...file, ...page(200) });
  const listing = createListing<z.infer<typeof item>, z.infer<typeof inputSchema>>(toolbox, {
    name: "lsp_document_links",
    feature: features.links,
    noun: "link",
    limit: 200,
    merge: true,
    async ask(session, file) {
      const params = { textDocument: { uri: session.uri } };
      const links = await session.request<DocumentLink[] | null>(features.links.method, params);
      const resolved = await Promise.all(
        // a link whose target cannot be found is still a link
        (links ?? []).map(async (link) =>
          link.target
            ? link
            : ((await session.request<DocumentLink | null>("documentLink/resolve", link).catch(() => null)) ?? link),
        ),
      );
      const { source } = file.text;
      return resolved.map((link) => ({
        range: link.range,
        ...(link.target !== undefined && { target: link.target }),
        ...(link.tooltip !== undefined && { tooltip: link.tooltip }),
        text: cutText(source.text.slice(source.offsetAt(link.range.start), source.offsetAt(link.range.end)), 100),
      }));
    },
    order: (a, b) => compareRanges(a.range, b.range),
    key: (link) => JSON.stringify([link.range, link.target]),
    render: (links, base) =>
      links.map((link) => ({ text: `${at(link.range.start, base)} ${link.text} → ${link.target ?? "unknown"}` })),
  });
  return anyTool(
    defineTool({
      name: "lsp_document_links",
      title: "Links in the document",
      description: "Links and includes of a file with their targets.",
      inputSchema,
      outputSchema: z.object({ ...schemas.answer, ...schemas.page, links: z.array(item) }),
      annotations: readOnly,
      async execute(input, context) {
        const { items, ...rest } = await listing.find(input, context);
        return { ...rest, links: items };
      },
      render: (output, input, toolName) => listing.text({ ...output, items: output.links }, input, toolName),
    }),
  );
}
