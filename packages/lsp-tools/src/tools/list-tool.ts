import { type AnyTool, defineTool } from "@toolhaft/core";
import { z } from "zod";
import type { Answer } from "../answer.ts";
import { type Asked, askAll, askFirst, type Session } from "../ask.ts";
import { conclude } from "../conclude.ts";
import type { Feature } from "../features.ts";
import { beginCall, type OpenFile, openFile } from "../open-file.ts";
import { callText, headline, pagedText, plural, type TextItem } from "../render/text.ts";
import type { ServerLife } from "../server.ts";
import { parameters } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

/** A tool that lists what servers find in one file. */
export interface ListTool<Item, Extra extends z.ZodRawShape> {
  name: string;
  title: string;
  description: string;
  feature: Feature;
  /** "folding range" */
  noun: string;
  /** The field of the data that holds the items. */
  field: string;
  limit: number;
  merge: boolean;
  extra: Extra;
  item: z.ZodType<Item>;
  /** Checks and completes the parameters before any server is asked. */
  prepare?(file: OpenFile, input: z.infer<z.ZodObject<Extra>>): void;
  ask(session: Session, file: OpenFile, input: z.infer<z.ZodObject<Extra>>): Promise<Item[]>;
  supported?(life: ServerLife, document: { uri: string; languageId: string }): boolean;
  order?(a: Item, b: Item): number;
  /** Equal items of two servers are one. */
  key?(item: Item): string;
  render(items: readonly Item[], base: 0 | 1): TextItem[];
}

export function listTool<Item, Extra extends z.ZodRawShape>(toolbox: Toolbox, spec: ListTool<Item, Extra>): AnyTool {
  const { base } = toolbox;
  const p = parameters(base);
  const defaults = { limit: spec.limit, offset: 0 };
  const input = z.object({ ...p.file, ...spec.extra, ...p.page(spec.limit) });
  type Input = { filePath: string; limit: number; offset: number } & z.infer<z.ZodObject<Extra>>;
  type Output = Answer & { total: number; offset: number; shown: number } & Record<string, unknown>;
  return anyTool(
    defineTool({
      name: spec.name,
      title: spec.title,
      description: spec.description,
      inputSchema: input,
      outputSchema: z.object({ ...schemas.answer, ...schemas.page, [spec.field]: z.array(spec.item) }),
      annotations: readOnly,
      async execute(raw, context) {
        const parsed = raw as unknown as Input;
        const call = beginCall(toolbox.engine, context);
        const file = await openFile(call, parsed.filePath);
        spec.prepare?.(file, parsed);
        const ask = spec.merge ? askAll : askFirst;
        const asked: Asked<Item[]>[] = await ask(call, file.served.serving, {
          feature: spec.feature,
          file,
          isEmpty: (result) => result.length === 0,
          ask: (session) => spec.ask(session, file, parsed),
          ...(spec.supported && { supported: spec.supported }),
        });
        const all = unique(
          asked.flatMap((one) => one.result ?? []),
          spec.key,
        );
        if (spec.order) all.sort(spec.order);
        const { missing } = file.served;
        const answer = conclude({ feature: spec.feature, asked, missing, empty: all.length === 0, shown: file.shown });
        const items = all.slice(parsed.offset, parsed.offset + parsed.limit);
        const page = { total: all.length, offset: parsed.offset, shown: items.length };
        return { ...answer, ...page, [spec.field]: items } as never;
      },
      render(raw, rawInput, toolName) {
        const output = raw as unknown as Output;
        const parsed = rawInput as unknown as Input;
        if (output.total === 0) return headline(`No ${spec.noun}s in ${parsed.filePath}`, output);
        return pagedText({
          header: headline(`${plural(output.total, spec.noun)} in ${parsed.filePath}`, output, base),
          items: spec.render(output[spec.field] as Item[], base),
          page: output,
          answer: output,
          next: (offset) => callText(toolName(spec.name), parsed, { offset }, defaults),
        });
      },
    }),
  );
}

function unique<Item>(items: readonly Item[], key: ((item: Item) => string) | undefined): Item[] {
  if (!key) return [...items];
  const seen = new Map<string, Item>();
  for (const item of items) if (!seen.has(key(item))) seen.set(key(item), item);
  return [...seen.values()];
}
