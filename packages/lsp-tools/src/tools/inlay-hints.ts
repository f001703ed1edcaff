import { type AnyTool, defineTool } from "@toolhaft/core";
import type { InlayHint } from "vscode-languageserver-protocol";
import { z } from "zod";
import type { Range } from "../answer.ts";
import { features } from "../features.ts";
import type { OpenFile } from "../open-file.ts";
import { comparePositions, cutText } from "../positions.ts";
import { checkLine } from "../target.ts";
import { createListing } from "./listing.ts";
import { parameters } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

const kinds = ["other", "type", "parameter"] as const;

export function inlayHints(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const number = (text: string) => z.number().int().min(base).optional().describe(text);
  const span = (file: OpenFile, input: Span): Range => {
    const { source } = file.text;
    const last = source.lineCount - 1;
    const startLine = (input.startLine ?? base) - base;
    const endLine = input.endLine === undefined ? last : input.endLine - base;
    checkLine(file, startLine, base);
    checkLine(file, endLine, base);
    const length = source.line(endLine).length;
    return {
      start: { line: startLine, character: (input.startChar ?? base) - base },
      end: { line: endLine, character: input.endChar === undefined ? length : Math.min(length, input.endChar - base) },
    };
  };
  const item = z.object({
    position: schemas.pos,
    label: z.string(),
    kind: z.enum(["type", "parameter", "other"]),
    text: z.string().optional(),
  });
  const { file, page } = parameters(base);
  const extra = {
    startLine: number("First line."),
    startChar: number("UTF-16."),
    endLine: number("Last line."),
    endChar: number("Exclusive."),
  };
  const inputSchema = z.object({ ...file, ...extra, ...page(300) });
  const listing = createListing<z.infer<typeof item>, z.infer<typeof inputSchema>>(toolbox, {
    name: "lsp_inlay_hints",
    feature: features.inlayHints,
    noun: "inlay hint",
    limit: 300,
    merge: true,
    prepare: (file, input) => void span(file, input),
    async ask(session, file, input) {
      const params = { textDocument: { uri: session.uri }, range: span(file, input) };
      const hints = await session.request<InlayHint[] | null>(features.inlayHints.method, params);
      return (hints ?? []).map((hint) => ({
        position: hint.position,
        label: labelOf(hint),
        kind: kinds[hint.kind ?? 0] ?? ("other" as const),
        text: file.text.source.line(hint.position.line),
      }));
    },
    order: (a, b) => comparePositions(a.position, b.position),
    key: (hint) => JSON.stringify([hint.position, hint.label]),
    render(hints) {
      const lines = new Map<number, typeof hints>();
      for (const hint of hints) lines.set(hint.position.line, [...(lines.get(hint.position.line) ?? []), hint]);
      return [...lines].map(([line, list]) => ({ text: `${line + base}: ${withHints(list)}`, count: list.length }));
    },
  });
  return anyTool(
    defineTool({
      name: "lsp_inlay_hints",
      title: "Inlay hints",
      description: "Inferred types and parameter names, set into the source lines.",
      inputSchema,
      outputSchema: z.object({ ...schemas.answer, ...schemas.page, hints: z.array(item) }),
      annotations: readOnly,
      async execute(input, context) {
        const { items, ...rest } = await listing.find(input, context);
        return { ...rest, hints: items };
      },
      render: (output, input, toolName) => listing.text({ ...output, items: output.hints }, input, toolName),
    }),
  );
}

interface Span {
  startLine?: number | undefined;
  startChar?: number | undefined;
  endLine?: number | undefined;
  endChar?: number | undefined;
}

function labelOf(hint: InlayHint): string {
  const label = typeof hint.label === "string" ? hint.label : hint.label.map((part) => part.value).join("");
  return `${hint.paddingLeft && !label.startsWith(" ") ? " " : ""}${label}${hint.paddingRight && !label.endsWith(" ") ? " " : ""}`;
}

/** The source line with its hints between brackets that code does not use. */
function withHints(
  hints: readonly { position: { character: number }; label: string; text?: string | undefined }[],
): string {
  const line = hints[0]?.text ?? "";
  let text = "";
  let from = 0;
  for (const hint of hints) {
    text += `${line.slice(from, hint.position.character)}⟨${hint.label}⟩`;
    from = hint.position.character;
  }
  return cutText((text + line.slice(from)).trim(), 400);
}
