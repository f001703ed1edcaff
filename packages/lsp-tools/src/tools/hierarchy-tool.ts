import { type AnyTool, defineTool, ToolError } from "@toolhaft/core";
import type { CallHierarchyItem } from "vscode-languageserver-protocol";
import { z } from "zod";
import type { Place } from "../answer.ts";
import { type Asked, askOne, type Call } from "../ask.ts";
import { conclude } from "../conclude.ts";
import { type Feature, features } from "../features.ts";
import { type HierarchyNode, placeOfItem, type Step, walkHierarchy } from "../hierarchy.ts";
import { beginCall, type OpenFile, openFile } from "../open-file.ts";

import { at, callText, headline, pagedText, plural, targetText } from "../render/text.ts";
import { locate, type Where } from "../target.ts";
import { uriToPath } from "../uris.ts";
import { parameters, whereOf } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

interface HierarchyTool {
  name: string;
  title: string;
  description: string;
  feature: "callHierarchy" | "typeHierarchy";
  /** "caller" */
  noun: string;
  step: Step;
  /** Takes handles of `lsp_prepare_call_hierarchy`. */
  items: boolean;
}

interface Walked {
  root: CallHierarchyItem | undefined;
  nodes: HierarchyNode[];
}

const defaults = { limit: 100, offset: 0, depth: 1 };

const node = z.object({
  name: z.string(),
  kind: z.string(),
  path: z.string(),
  range: schemas.range,
  selection: schemas.range,
  depth: z.number().int(),
  parent: z.number().int(),
  sites: z.array(schemas.range).optional(),
  cycle: z.literal(true).optional(),
});

/** A tool that walks a hierarchy from a position, or from a prepared item. */
export function hierarchyTool(toolbox: Toolbox, spec: HierarchyTool): AnyTool {
  const { base } = toolbox;
  const p = parameters(base);
  const feature: Feature = features[spec.feature];
  const item = spec.items ? { item: z.string().min(1).optional().describe("Handle, or a position.") } : {};
  const filePath = spec.items ? p.filePath.optional() : p.filePath;
  return anyTool(
    defineTool({
      name: spec.name,
      title: spec.title,
      description: spec.description,
      inputSchema: z.object({
        ...p.position,
        filePath,
        ...item,
        depth: z.number().int().min(1).max(5).default(1).describe("Levels."),
        ...p.page(100),
      }),
      outputSchema: z.object({
        ...schemas.answer,
        ...schemas.page,
        root: schemas.place,
        nodes: z.array(node),
      }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        const handle = (input as { item?: string }).item;
        const started =
          handle === undefined
            ? await fromPosition(toolbox, call, feature, spec, input.filePath, whereOf(input, base), input.depth)
            : await fromItem(toolbox, call, feature, spec, handle, input.depth);
        const { asked, file, target, missing } = started;
        const walked =
          asked.find((one) => one.report.outcome === "answered")?.result ?? asked.find((one) => one.result)?.result;
        const nodes = walked?.nodes ?? [];
        const shown = file?.shown ?? handle ?? "";
        const answer = conclude({ feature, asked, missing, empty: nodes.length === 0, shown });
        const root = walked?.root
          ? await placeOfItem(call, file, walked.root)
          : {
              path: shown,
              range: { start: target?.position ?? zero, end: target?.position ?? zero },
              name: target?.name,
            };
        const page = nodes.slice(input.offset, input.offset + input.limit);
        return {
          ...(target && { target }),
          ...answer,
          root,
          nodes: page,
          total: nodes.length,
          offset: input.offset,
          shown: page.length,
        };
      },
      render(output, input, toolName) {
        const root = output.root as Place;
        const of = output.target
          ? targetText(output.target, base)
          : `${root.name ?? "item"} [${root.path} ${at(root.range.start, base)}]`;
        if (output.total === 0) return headline(`No ${spec.noun}s of ${of}`, output);
        const items = (output.nodes as HierarchyNode[]).map((one) => ({
          text: `${"  ".repeat(one.depth - 1)}${one.name} ${one.path} ${at(one.selection.start, base)}${sitesText(one, base)}${one.cycle ? " (cycle)" : ""}`,
        }));
        return pagedText({
          header: headline(`${plural(output.total, spec.noun)} of ${of}`, output, base),
          items,
          page: output,
          answer: output,
          next: (offset) => callText(toolName(spec.name), input, { offset }, defaults),
        });
      },
    }),
  );
}

const zero = { line: 0, character: 0 };

function sitesText(one: HierarchyNode, base: number): string {
  if (!one.sites || one.sites.length === 0) return "";
  const shown = one.sites.slice(0, 20).map((site) => at(site.start, base));
  const more = one.sites.length > 20 ? ` and ${one.sites.length - 20} more` : "";
  return `, ${one.sites.length === 1 ? "call" : "calls"} at ${shown.join(", ")}${more}`;
}

async function fromPosition(
  toolbox: Toolbox,
  call: Call,
  feature: Feature,
  spec: HierarchyTool,
  filePath: string | undefined,
  where: Where,
  depth: number,
) {
  if (filePath === undefined) {
    throw new ToolError("invalid_input", "filePath: give filePath with a position or symbol, or item", {
      hint: 'ways: {"filePath":"src/a.ts","symbol":"area"} · {"item":"call_…"}',
    });
  }
  const file = await openFile(call, filePath);
  const target = await locate(call, file, where, { snap: "nearest", base: toolbox.base });
  const asked: Asked<Walked>[] = [];
  for (const serving of file.served.serving) {
    const one = await askOne<Walked>(call, serving, {
      feature,
      file,
      isEmpty: (result) => result.nodes.length === 0,
      ask: async (session) => {
        const params = { textDocument: { uri: session.uri }, position: target.position };
        const roots = await session.request<CallHierarchyItem[] | null>(feature.method, params);
        const nodes: HierarchyNode[] = [];
        for (const root of roots ?? []) {
          const offset = nodes.length;
          const found = await walkHierarchy(call, file, session, root, spec.step, depth);
          nodes.push(...found.map((one) => (one.parent < 0 ? one : { ...one, parent: one.parent + offset })));
        }
        return { root: roots?.[0], nodes };
      },
    });
    asked.push(one);
    if (one.report.outcome === "answered") break;
  }
  return { asked, file: file as OpenFile | undefined, target, missing: file.served.missing };
}

async function fromItem(
  toolbox: Toolbox,
  call: Call,
  feature: Feature,
  spec: HierarchyTool,
  handle: string,
  depth: number,
) {
  const versionOf = async (path: string) => (await call.engine.texts.tryRead(path, call.scope))?.version;
  const kept = await toolbox.items.take(handle, versionOf);
  const text = await call.engine.texts.read(kept.path, call.scope);
  const asked = [
    await askOne<Walked>(call, kept.serving, {
      feature,
      file: { text },
      // the item lives and dies with its server
      read: false,
      isEmpty: (result) => result.nodes.length === 0,
      ask: async (session) => ({
        root: kept.item,
        nodes: await walkHierarchy(call, undefined, session, kept.item, spec.step, depth),
      }),
    }),
  ];
  return { asked, file: undefined, target: undefined, missing: [] };
}

/** Which path an item's handle watches: its own file when it is local, else the file it was asked from. */
export function watchedPath(item: CallHierarchyItem, fallback: string): string {
  return uriToPath(item.uri) ?? fallback;
}
