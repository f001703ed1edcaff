import { type AnyTool, defineTool } from "@toolhaft/core";
import type { CallHierarchyItem } from "vscode-languageserver-protocol";
import { z } from "zod";
import { askFirst } from "../ask.ts";
import { conclude } from "../conclude.ts";
import { features } from "../features.ts";
import { beginCall, openFile } from "../open-file.ts";
import { pathOfUri } from "../places.ts";
import { at, headline, notes, plural, targetText } from "../render/text.ts";
import type { ServerLife } from "../server.ts";
import { symbolKind } from "../symbols.ts";
import { locate } from "../target.ts";
import { realPathOf } from "../uris.ts";
import { watchedPath } from "./hierarchy-tool.ts";
import { parameters, whereOf } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

export function prepareCallHierarchy(toolbox: Toolbox): AnyTool {
  const { base, items } = toolbox;
  return anyTool(
    defineTool({
      name: "lsp_prepare_call_hierarchy",
      title: "Prepare a call hierarchy",
      description: "Handles of the functions at a position, for lsp_incoming_calls and lsp_outgoing_calls.",
      inputSchema: z.object(parameters(base).position),
      outputSchema: z.object({
        ...schemas.answer,
        items: z.array(
          z.object({
            item: z.string(),
            name: z.string(),
            kind: z.string(),
            detail: z.string().optional(),
            path: z.string(),
            range: schemas.range,
            selection: schemas.range,
          }),
        ),
      }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, input.filePath);
        const target = await locate(call, file, whereOf(input, base), { snap: "nearest", base });
        const feature = features.callHierarchy;
        type Prepared = { life: ServerLife; items: CallHierarchyItem[] };
        const asked = await askFirst<Prepared>(call, file.served.serving, {
          feature,
          file,
          isEmpty: (result) => result.items.length === 0,
          ask: async (session) => {
            const params = { textDocument: { uri: session.uri }, position: target.position };
            const found = await session.request<CallHierarchyItem[] | null>(feature.method, params);
            return { life: session.life, items: found ?? [] };
          },
        });
        const first = asked.find((one) => one.report.outcome === "answered");
        const found = first?.result?.items ?? [];
        const answer = conclude({
          feature,
          asked,
          missing: file.served.missing,
          empty: found.length === 0,
          shown: file.shown,
        });
        const kept = [];
        for (const item of found) {
          if (!first?.result) continue;
          const path = realPathOf(watchedPath(item, file.text.path));
          const text = await call.engine.texts.tryRead(path, call.scope);
          const version = text?.version ?? "";
          kept.push({
            item: items.keep({ item, serving: first.serving, life: first.result.life, path, version }),
            name: item.name,
            kind: symbolKind(item.kind),
            ...(item.detail && { detail: item.detail }),
            path: pathOfUri(call, file, item.uri),
            range: item.range,
            selection: item.selectionRange,
          });
        }
        return { target, ...answer, items: kept };
      },
      render(output) {
        const of = targetText(output.target, base);
        if (output.items.length === 0) return headline(`No call hierarchy for ${of}`, output);
        const lines = output.items.map(
          (one) => `${one.item} ${one.kind} ${one.name} ${one.path} ${at(one.selection.start, base)}`,
        );
        return [
          headline(`${plural(output.items.length, "item")} for ${of}`, output, base),
          ...lines,
          ...notes(output),
        ].join("\n");
      },
    }),
  );
}
