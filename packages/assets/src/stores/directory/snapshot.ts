import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type Asset, compareText, visibleFrom } from "../../model.ts";
import { isInside, shownPath } from "../../paths.ts";
import type { Found } from "./found.ts";
import type { AssetFacts, FileRecord } from "./record.ts";
import type { ResolvedRoot } from "./roots.ts";

/** A file as the catalog holds it. */
export interface Entry {
  key: string;
  found: Found;
  record: FileRecord;
  documents: readonly number[];
}

/** An asset together with where it comes from. */
export interface Placed {
  asset: Asset;
  entry: Entry;
  facts: AssetFacts;
  document: number;
}

/** The whole catalog at one moment; never changed, only replaced. */
export interface Snapshot {
  entries: ReadonlyMap<string, Entry>;
  placed: readonly Placed[];
  byId: ReadonlyMap<string, Placed>;
  byDocument: ReadonlyMap<number, Placed>;
  version: string;
  notes: readonly string[];
}

export function keyOf(found: Found): string {
  return `${found.type}\0${found.path}\0${found.role ?? ""}\0${found.name}`;
}

export function buildSnapshot(
  entries: ReadonlyMap<string, Entry>,
  roots: readonly ResolvedRoot[],
  directory: string,
  notes: readonly string[],
): Snapshot {
  const declared = declaredNames([...entries.values()]);
  const placed = [...entries.values()].flatMap((entry) => placeAll(entry, roots, directory, declared));
  shadow(placed);
  giveOwners(placed);
  return {
    entries,
    placed,
    byId: new Map(placed.map((one) => [one.asset.id, one])),
    byDocument: new Map(placed.map((one) => [one.document, one])),
    version: versionOf(placed),
    notes: [...notes, ...cutNotes(entries, directory)],
  };
}

/** The snapshot of some entries; the old one where nothing is new. */
export function nextSnapshot(
  before: Snapshot | undefined,
  entries: ReadonlyMap<string, Entry>,
  roots: readonly ResolvedRoot[],
  directory: string,
  notes: readonly string[],
): Snapshot {
  if (
    before &&
    before.entries.size === entries.size &&
    isSameList([...before.entries.values()], [...entries.values()])
  ) {
    const own = [...notes, ...cutNotes(entries, directory)];
    return isSameList(before.notes, own) ? before : { ...before, notes: own };
  }
  return buildSnapshot(entries, roots, directory, notes);
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}

/** Whether a file is placed as before and its record is the same. */
export function isSame(old: Entry, found: Found, known: Pick<Entry, "record" | "documents">): boolean {
  return (
    old.record === known.record &&
    old.documents === known.documents &&
    old.found.real === found.real &&
    old.found.root === found.root &&
    isSameList(old.found.aliases, found.aliases)
  );
}

function cutNotes(entries: ReadonlyMap<string, Entry>, directory: string): string[] {
  const cut = [...entries.values()].filter(({ record }) => record.cut);
  return cut.map(({ found }) => `${shownPath(found.path, directory)} is searched in its first 256 KiB only`);
}

function placeAll(
  entry: Entry,
  roots: readonly ResolvedRoot[],
  directory: string,
  declared: ReadonlyMap<string, string>,
): Placed[] {
  const { found, record, documents } = entry;
  const path = shownPath(found.path, directory);
  return record.facts.map((facts, index) => {
    const { type, fragment, role, description, tags, status, label } = facts;
    const name = (type === "reference" && fragment === "" ? declared.get(found.real) : undefined) ?? facts.name;
    const asset: Asset = {
      id: `${type}:${path}${fragment === "" ? "" : `#${fragment}`}`,
      type,
      name,
      role,
      root: roots[found.root]?.label ?? "",
      path,
      description,
      tags,
      owners: [],
      status,
      ...(label !== undefined && { label }),
      bytes: record.bytes,
      modifiedAt: record.modifiedAt,
      version: record.version,
      aliases: found.aliases.map((alias) => shownPath(alias, directory)),
    };
    return { asset, entry, facts, document: documents[index] ?? -1 };
  });
}

/** The copy of the first root stands before the others. */
function shadow(placed: readonly Placed[]): void {
  const first = new Map<string, Placed>();
  for (const one of placed) {
    const key = `${one.asset.type}\0${one.asset.role ?? ""}\0${one.asset.name.normalize("NFC")}`;
    const active = first.get(key);
    if (!active) first.set(key, one);
    else if (active.entry.found.root !== one.entry.found.root) one.asset.shadowedBy = active.asset.id;
  }
}

function giveOwners(placed: readonly Placed[]): void {
  if (!placed.some(({ facts }) => facts.lists)) return;
  const byName = new Map<string, Placed[]>();
  for (const one of placed) {
    if (one.asset.shadowedBy !== undefined) continue;
    const key = `${one.asset.type}\0${one.asset.role ?? ""}\0${one.asset.name}`;
    const same = byName.get(key);
    if (same) same.push(one);
    else byName.set(key, [one]);
  }
  for (const { facts, asset: role } of placed) {
    if (!facts.lists) continue;
    const wanted = [
      ...facts.lists.skills.map((name) => ({ type: "skill", name })),
      ...facts.lists.references.map(({ name }) => ({ type: "reference", name })),
    ];
    for (const { type, name } of wanted) {
      const seen = visibleFrom(role.name).map((from) => byName.get(`${type}\0${from ?? ""}\0${name}`));
      for (const { asset } of seen.find((found) => found) ?? [])
        if (!asset.owners.includes(role.name)) asset.owners.push(role.name);
    }
  }
  for (const { asset } of placed) asset.owners.sort(compareText);
}

/** Where a listed reference of a role may stand. */
export function referencePlaces(roleFile: string, path: string): string[] {
  const folder = dirname(roleFile);
  const places = [resolve(folder, path), resolve(folder, "references", path)];
  return places.flatMap((place) => [place, `${place}.md`]).filter((place) => isInside(folder, place));
}

/** Files that roles list, with the name they give them. */
function declaredNames(entries: readonly Entry[]): Map<string, string> {
  const known = new Set(entries.filter(({ found }) => found.type === "reference").map(({ found }) => found.real));
  const names = new Map<string, string>();
  for (const { path, name, places } of listed(entries)) {
    const real = places.find((place) => known.has(place));
    if (real !== undefined && path !== name) names.set(real, name);
  }
  return names;
}

function listed(
  entries: readonly Entry[],
): { name: string; path: string; role: string; places: string[]; entry: Entry }[] {
  return entries.flatMap((entry) =>
    entry.record.facts.flatMap(({ lists, name: role }) =>
      (lists?.references ?? []).flatMap(({ name, path }) =>
        path === undefined ? [] : [{ name, path, role, places: referencePlaces(entry.found.path, path), entry }],
      ),
    ),
  );
}

/** Files that roles list and that lie outside their `references` folders: assets, too. */
export function listedElsewhere(
  entries: ReadonlyMap<string, Entry>,
): { path: string; name: string; role: string; root: number }[] {
  const all = [...entries.values()];
  const known = new Set(
    all.filter(({ found }) => found.type === "reference").flatMap(({ found }) => [found.path, found.real]),
  );
  return listed(all).flatMap(({ name, role, places, entry }) => {
    if (places.some((place) => known.has(place))) return [];
    const path = places.find((place) => existsSync(place));
    return path === undefined ? [] : [{ path, name, role, root: entry.found.root }];
  });
}

function versionOf(placed: readonly Placed[]): string {
  const lines = placed.map(({ asset }) => `${asset.id}\0${asset.version}`).sort(compareText);
  return createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 12);
}
