import { nearest, ToolError } from "@toolhaft/core";
import { type Asset, inScope, isBelow } from "../../model.ts";
import type { ReloadReport, ReloadTarget } from "../../store.ts";
import type { Found } from "./found.ts";
import type { Entry, Snapshot } from "./snapshot.ts";

/**
 * Keys of the files that a reload is about.
 *
 * @throws ToolError `not_found`, with near names
 */
export function chosenKeys(
  before: Snapshot,
  founds: ReadonlyMap<string, Found>,
  { type, name }: ReloadTarget,
): Set<string> {
  const all = new Set([...before.entries.keys(), ...founds.keys()]);
  if (type === "role" && name === undefined) return all;
  const foundOf = (key: string): Found | undefined => founds.get(key) ?? before.entries.get(key)?.found;
  if (name === undefined)
    return new Set([...all].filter((key) => foundOf(key)?.type === type || holds(before, key, type)));
  const wanted = name.normalize("NFC").replaceAll(type === "role" ? "--" : "\0", "/");
  const named = before.placed.filter(
    ({ asset }) => asset.type === type && (asset.id === name || asset.name.normalize("NFC") === wanted),
  );
  const chosen = new Set(named.map(({ entry }) => entry.key));
  for (const [key, found] of founds) if (found.type === type && found.name.normalize("NFC") === wanted) chosen.add(key);
  if (type === "role") {
    const id = named[0]?.asset.name ?? wanted;
    for (const { asset, entry } of before.placed) if (inScope(asset, id)) chosen.add(entry.key);
    for (const [key, found] of founds)
      if (isBelow(id, found.type === "role" ? found.name : found.role)) chosen.add(key);
  }
  if (chosen.size > 0) return chosen;
  const names = before.placed.filter(({ asset }) => asset.type === type).map(({ asset }) => asset.name);
  const near = nearest(name, names, 5);
  throw new ToolError("not_found", `there is no ${type} ${name}`, {
    hint: near.length > 0 ? `did you mean ${near.join(", ")}?` : "asset_search lists what there is",
    details: { near },
  });
}

function holds(snapshot: Snapshot, key: string, type: Asset["type"]): boolean {
  return snapshot.entries.get(key)?.record.facts.some((facts) => facts.type === type) ?? false;
}

/** In the order of the walk, so that the first root's copy comes first. */
export function ordered(entries: ReadonlyMap<string, Entry>, order: readonly string[]): Map<string, Entry> {
  const sorted = new Map<string, Entry>();
  for (const key of [...order, ...entries.keys()]) {
    const entry = entries.get(key);
    if (entry) sorted.set(key, entry);
  }
  return sorted;
}

/** What a reload changed. */
export function compare(before: Snapshot, after: Snapshot): Omit<ReloadReport, "watching"> {
  const added = after.placed.filter(({ asset }) => !before.byId.has(asset.id)).map(({ asset }) => asset);
  const removed = before.placed.filter(({ asset }) => !after.byId.has(asset.id)).map(({ asset }) => asset);
  const changed = after.placed
    .filter(({ asset }) => {
      const old = before.byId.get(asset.id)?.asset;
      return old !== undefined && old.version !== asset.version;
    })
    .map(({ asset }) => asset);
  const unchanged = after.placed.length - added.length - changed.length;
  return { before: before.version, after: after.version, added, changed, removed, unchanged, issues: [] };
}
