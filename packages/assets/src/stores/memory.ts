import { createHash } from "node:crypto";
import { nearest, ToolError } from "@toolhaft/core";
import { foldText } from "@toolhaft/text";
import type { TextFile } from "@toolhaft/workspace";
import { decodeCursor, encodeCursor } from "../cursor.ts";
import { indexTerms } from "../index-terms.ts";
import { type Asset, type AssetType, compareText, fits } from "../model.ts";
import { checkedParts } from "../paths.ts";
import type { AssetCatalog, AssetQuery, SearchHit, SkillFile } from "../store.ts";
import { byField, type Field, fields, fieldWeights, type QueryTerm, queryTerms } from "../terms.ts";
import { textFileOf } from "./text-file.ts";

/** An asset with its texts, for a catalog in memory. */
export interface MemoryAsset {
  type: AssetType;
  name: string;
  text: string;
  description?: string;
  tags?: readonly string[];
  role?: string | null;
  owners?: readonly string[];
  /** Of the defining file. @default `<type>s/<name>`, of a skill `skills/<name>/SKILL.md` */
  path?: string;
  /** Other files of a skill, by path below its folder. */
  files?: Readonly<Record<string, string>>;
}

interface Kept {
  asset: Asset;
  text: string;
  files: ReadonlyMap<string, string>;
  terms: Record<Field, ReadonlySet<string>>;
}

/** A catalog over assets that a host holds in memory: nothing is read, nothing can be written. */
export function memoryCatalog(assets: readonly MemoryAsset[]): AssetCatalog {
  const kept = assets.map(keep);
  const byId = new Map(kept.map((one) => [one.asset.id, one]));
  const version = createHash("sha256")
    .update(
      kept
        .map(({ asset }) => `${asset.id}\0${asset.version}`)
        .sort(compareText)
        .join("\n"),
    )
    .digest("hex")
    .slice(0, 12);
  const find = (asset: Asset): Kept => {
    const found = byId.get(asset.id);
    if (found) return found;
    throw new ToolError("not_found", `there is no asset ${asset.id}`, { hint: "search again" });
  };
  return {
    version: async () => version,
    list: async ({ type, role }, signal) => {
      refuseAborted(signal);
      return { assets: kept.map(({ asset }) => asset).filter((asset) => fits(asset, type, role)), notes: [] };
    },
    get: async ({ type, name, role }, signal) => {
      refuseAborted(signal);
      return kept.map(({ asset }) => asset).filter((asset) => asset.name === name && fits(asset, type, role));
    },
    async read(asset, file, signal): Promise<TextFile> {
      refuseAborted(signal);
      const { text, files } = find(asset);
      if (file === undefined) return textFileOf(asset.path, Buffer.from(text), 0o644);
      const path = checkedParts(file).join("/");
      const content = path === asset.path.split("/").at(-1) ? text : files.get(path);
      if (content !== undefined) return textFileOf(path, Buffer.from(content), 0o644);
      const near = nearest(path, files.keys(), 5);
      throw new ToolError("not_found", `skill ${asset.name} has no file ${file}`, {
        hint: near.length > 0 ? `did you mean ${near.join(", ")}?` : "list_skill_files shows what there is",
      });
    },
    async files(asset, signal): Promise<SkillFile[]> {
      refuseAborted(signal);
      const { text, files } = find(asset);
      const all = [["SKILL.md", text] as const, ...files];
      return all
        .map(([path, content]) => ({ path, bytes: Buffer.byteLength(content), text: true }))
        .sort((a, b) => compareText(a.path, b.path));
    },
    async search(query, signal) {
      refuseAborted(signal);
      return searchIn(kept, version, query);
    },
  };
}

function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new ToolError("cancelled", "the call was stopped");
}

function keep({
  type,
  name,
  text,
  description = "",
  tags = [],
  role = null,
  owners = [],
  path,
  files = {},
}: MemoryAsset): Kept {
  const place = path ?? (type === "skill" ? `skills/${name}/SKILL.md` : `${type}s/${name}`);
  const headings = [...text.matchAll(/^#{1,6}[ \t]+(.+)$/gm)].map(([, heading = ""]) => heading).join("\n");
  const texts: Record<Field, string> = { name, tags: tags.join(" "), description, headings, body: text };
  const asset: Asset = {
    id: `${type}:${place}`,
    type,
    name,
    role,
    root: "memory",
    path: place,
    description,
    tags: [...tags],
    owners: [...owners],
    status: "ok",
    bytes: Buffer.byteLength(text),
    modifiedAt: 0,
    version: createHash("sha256").update(text).digest("hex"),
    aliases: [],
  };
  const terms = byField((field): ReadonlySet<string> => new Set(indexTerms(texts[field]).split(" ")));
  return { asset, text, files: new Map(Object.entries(files)), terms };
}

/** Every word must occur; the weight of the field it is found in is its score. */
function searchIn(kept: readonly Kept[], version: string, query: AssetQuery) {
  const question = [query.text, query.type ?? "all", query.role ?? null];
  const offset = decodeCursor(version, question, query.cursor);
  const { words } = queryTerms(query.text);
  const exact = foldText(query.text);
  const judged = kept
    .filter(({ asset }) => fits(asset, query.type, query.role) && query.accept?.(asset) !== false)
    .map((one) => ({ one, places: words.map((alternatives) => fieldsWith(one, alternatives)) }));
  const score = (places: readonly Field[][]): number =>
    places.flat().reduce((sum, field) => sum + fieldWeights[field], 0);
  const order = (a: (typeof judged)[number], b: (typeof judged)[number]): number =>
    Number(foldText(b.one.asset.name) === exact) - Number(foldText(a.one.asset.name) === exact) ||
    score(b.places) - score(a.places) ||
    compareText(a.one.asset.name, b.one.asset.name) ||
    compareText(a.one.asset.path, b.one.asset.path);
  const found = judged.filter(({ places }) => words.length > 0 && places.every((at) => at.length > 0)).sort(order);
  const some = found.length > 0 ? [] : judged.filter(({ places }) => places.some((at) => at.length > 0)).sort(order);
  const end = offset + query.limit;
  return {
    hits: found.slice(offset, end).map(
      ({ one, places }): SearchHit => ({
        asset: one.asset,
        score: score(places),
        matched: [...new Set(places.flat())],
      }),
    ),
    total: found.length,
    near: some.slice(0, 5).map(({ one }) => one.asset),
    ...(end < found.length && { nextCursor: encodeCursor(version, question, end) }),
    notes: [],
  };
}

function fieldsWith({ terms }: Kept, alternatives: readonly QueryTerm[]): Field[] {
  return fields.filter((field) =>
    alternatives.some(({ term, prefix }) =>
      prefix ? [...terms[field]].some((one) => one.startsWith(term)) : terms[field].has(term),
    ),
  );
}
