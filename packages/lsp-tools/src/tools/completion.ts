import { type AnyTool, defineTool } from "@toolhaft/core";
import type { CompletionItem } from "vscode-languageserver-protocol";
import { z } from "zod";
import { askAll, type Session } from "../ask.ts";
import {
  type CompletionResult,
  completionKind,
  filterCompletions,
  insertTextOf,
  itemsOf,
} from "../completion-items.ts";
import { conclude } from "../conclude.ts";
import { features } from "../features.ts";
import { markdownOf } from "../hover-text.ts";
import { beginCall, openFile } from "../open-file.ts";
import { clip, headline, notes, plural, targetText } from "../render/text.ts";
import { locate } from "../target.ts";
import { parameters, whereOf } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

interface Completions {
  total: number;
  isIncomplete: boolean;
  shown: { item: CompletionItem; resolved: CompletionItem }[];
}

export function completion(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  return anyTool(
    defineTool({
      name: "lsp_completion",
      title: "Completion",
      description: "What can be written at a position: members, names, keywords, with types.",
      inputSchema: z.object({
        ...parameters(base).position,
        maxItems: z.number().int().min(1).max(100).default(20).describe("Most items."),
      }),
      outputSchema: z.object({
        ...schemas.answer,
        items: z.array(
          z.object({
            label: z.string(),
            kind: z.string(),
            detail: z.string().optional(),
            documentation: z.string().optional(),
            insertText: z.string(),
            extraEdits: z.number().int(),
          }),
        ),
        total: z.number().int(),
        isIncomplete: z.boolean(),
      }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const target = await locate(call, file, whereOf(input, base), { snap: "keep", spot: "end", base });
        const { line, character } = target.position;
        const typed = /[\p{ID_Continue}$]*$/u.exec(file.text.source.line(line).slice(0, character))?.[0] ?? "";
        const feature = features.completion;
        const asked = await askAll<Completions>(call, file.served.serving, {
          feature,
          file,
          isEmpty: (result) => result.total === 0,
          ask: async (session) => {
            const result = await session.request<CompletionResult>(feature.method, {
              textDocument: { uri: session.uri },
              position: target.position,
              context: { triggerKind: 1 },
            });
            const { items, isIncomplete } = itemsOf(result);
            const kept = filterCompletions(items, typed);
            return { total: kept.length, isIncomplete, shown: await resolve(session, kept.slice(0, input.maxItems)) };
          },
        });
        const total = asked.reduce((sum, one) => sum + (one.result?.total ?? 0), 0);
        const answer = conclude({
          feature,
          asked,
          missing: file.served.missing,
          empty: total === 0,
          shown: file.shown,
        });
        const items = asked
          .flatMap((one) => one.result?.shown ?? [])
          .slice(0, input.maxItems)
          .map(({ item, resolved }) => describe(item, resolved));
        const isIncomplete = asked.some((one) => one.result?.isIncomplete);
        return { target, ...answer, items, total, isIncomplete };
      },
      render(output) {
        const where = targetText(output.target, base);
        if (output.total === 0) return headline(`No completions at ${where}`, output);
        const lead =
          output.total > output.items.length
            ? `${output.items.length} of ${output.total} completions`
            : plural(output.total, "completion");
        const lines = output.items.map((item) => {
          const insert = item.insertText === item.label ? "" : ` → ${clip(item.insertText, 200)}`;
          const detail = item.detail ? ` ${clip(item.detail, 300)}` : "";
          const extra = item.extraEdits > 0 ? ` (+${item.extraEdits} edits, such as an import)` : "";
          const documentation = item.documentation
            ? `\n  ${clip(item.documentation, 300).replaceAll("\n", "\n  ")}`
            : "";
          return `${item.label} ${item.kind}${detail}${insert}${extra}${documentation}`;
        });
        return [headline(lead, output), ...lines, ...notes(output)].join("\n");
      },
    }),
  );
}

async function resolve(session: Session, items: readonly CompletionItem[]) {
  const { completionProvider } = session.life.capabilities;
  const canResolve =
    completionProvider?.resolveProvider === true ||
    session.life.registrations
      .options("textDocument/completion", { uri: session.uri, languageId: session.languageId })
      .some((options) => options.resolveProvider === true);
  return Promise.all(
    items.map(async (item) => {
      if (!canResolve) return { item, resolved: item };
      // one item that cannot be resolved is still an item
      const resolved = await session.request<CompletionItem | null>("completionItem/resolve", item).catch(() => null);
      return { item, resolved: resolved ?? item };
    }),
  );
}

function describe(item: CompletionItem, resolved: CompletionItem) {
  const detail = resolved.detail ?? item.detail ?? item.labelDetails?.detail ?? item.labelDetails?.description;
  const documentation = markdownOf(resolved.documentation ?? item.documentation);
  return {
    label: item.label,
    kind: completionKind(item.kind),
    ...(detail && { detail: clip(detail, 1_000) }),
    ...(documentation !== "" && { documentation: clip(documentation, 4_000) }),
    insertText: insertTextOf(item),
    extraEdits: (resolved.additionalTextEdits ?? item.additionalTextEdits ?? []).length,
  };
}
