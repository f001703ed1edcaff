import type { ToolContext } from "@toolhaft/core";
import type { Answer, Page } from "../answer.ts";
import { type Asked, askAll, askFirst, type Session } from "../ask.ts";
import { conclude } from "../conclude.ts";
import type { Feature } from "../features.ts";
import { beginCall, type OpenFile, openFile } from "../open-file.ts";
import { callText, headline, pagedText, plural, type TextItem } from "../render/text.ts";
import type { ServerLife } from "../server.ts";
import type { Toolbox } from "./toolbox.ts";

/** What every tool that lists what servers find in one file is given. */
export interface ListInput {
  filePath: string;
  limit: number;
  offset: number;
}

export interface ListSpec<Item, Input extends ListInput> {
  name: string;
  feature: Feature;
  /** "folding range" */
  noun: string;
  /** The default page, which a printed call leaves out. */
  limit: number;
  /** All servers' answers together, or the first that has any. */
  merge: boolean;
  /** Checks the parameters before any server is asked. */
  prepare?(file: OpenFile, input: Input): void;
  ask(session: Session, file: OpenFile, input: Input): Promise<Item[]>;
  supported?(life: ServerLife, document: { uri: string; languageId: string }): boolean;
  order?(a: Item, b: Item): number;
  /** Equal items of two servers are one. */
  key?(item: Item): string;
  render(items: readonly Item[], base: 0 | 1): TextItem[];
}

export interface Listed<Item> extends Answer, Page {
  items: Item[];
}

export interface Listing<Item, Input extends ListInput> {
  find(input: Input, context: ToolContext): Promise<Listed<Item>>;
  text(listed: Listed<Item>, input: Input, toolName: (name: string) => string): string;
}

/** What the tools that list have in common: asking, merging, paging, and the text of a page. */
export function createListing<Item, Input extends ListInput>(
  toolbox: Toolbox,
  spec: ListSpec<Item, Input>,
): Listing<Item, Input> {
  const { base } = toolbox;
  const defaults = { limit: spec.limit, offset: 0 };
  return {
    async find(input, context) {
      const call = beginCall(toolbox.engine, context);
      const file = await openFile(call, input.filePath);
      spec.prepare?.(file, input);
      const ask = spec.merge ? askAll : askFirst;
      const asked: Asked<Item[]>[] = await ask(call, file.served.serving, {
        feature: spec.feature,
        file,
        isEmpty: (result) => result.length === 0,
        ask: (session) => spec.ask(session, file, input),
        ...(spec.supported && { supported: spec.supported }),
      });
      const found = asked.flatMap((one) => one.result ?? []);
      const all = unique(found, spec.key);
      if (spec.order) all.sort(spec.order);
      const { missing } = file.served;
      const answer = conclude({ feature: spec.feature, asked, missing, empty: all.length === 0, shown: file.shown });
      const items = all.slice(input.offset, input.offset + input.limit);
      return { ...answer, total: all.length, offset: input.offset, shown: items.length, items };
    },
    text(listed, input, toolName) {
      if (listed.total === 0) return headline(`No ${spec.noun}s in ${input.filePath}`, listed);
      return pagedText({
        header: headline(`${plural(listed.total, spec.noun)} in ${input.filePath}`, listed, base),
        items: spec.render(listed.items, base),
        page: listed,
        answer: listed,
        next: (offset) => callText(toolName(spec.name), input, { offset }, defaults),
      });
    },
  };
}

function unique<Item>(items: readonly Item[], key: ((item: Item) => string) | undefined): Item[] {
  if (!key) return [...items];
  const seen = new Map<string, Item>();
  for (const item of items) if (!seen.has(key(item))) seen.set(key(item), item);
  return [...seen.values()];
}
