import { type ParsedAsset, parseAsset } from "./details.ts";
import { type Asset, type AssetType, visibleFrom } from "./model.ts";
import { textOf } from "./skill-text.ts";
import type { View } from "./view.ts";

/** Finds what names mean from inside a role: in it, in its parents, then in what belongs to no role. */
export interface Relations {
  /** The active asset that a name means from a role. */
  meaning(type: AssetType, name: string, role: string | null): Asset | undefined;
  /** Names that could be meant from a role. */
  names(type: AssetType, role: string | null): string[];
  resolver(role: string): { resolve(type: AssetType, name: string): string; missing(): string[] };
  /** Functions and roles that name a function. */
  usersOf(asset: Asset): Promise<string[]>;
}

export function relationsOf(view: Pick<View, "assets" | "read">): Relations {
  const byPlace = new Map<string, Asset>();
  for (const asset of view.assets) {
    const key = placeOf(asset.type, asset.name, asset.role);
    if (asset.shadowedBy === undefined && !byPlace.has(key)) byPlace.set(key, asset);
  }
  const meaning = (type: AssetType, name: string, role: string | null): Asset | undefined => {
    for (const from of visibleFrom(role)) {
      const found = byPlace.get(placeOf(type, name, from));
      if (found) return found;
    }
    return undefined;
  };
  return {
    meaning,
    names(type, role) {
      const seen = new Set(visibleFrom(role));
      const found = view.assets.filter(
        (asset) => asset.type === type && asset.shadowedBy === undefined && seen.has(asset.role),
      );
      return [...new Set(found.map(({ name }) => name))];
    },
    resolver(role) {
      const absent: string[] = [];
      return {
        resolve(type, name) {
          const found = meaning(type, name, role);
          if (!found) absent.push(`${type} ${name}`);
          return !found || found.role === null ? name : `${found.role}/${name}`;
        },
        missing: () => absent,
      };
    },
    async usersOf(asset) {
      const users: string[] = [];
      for (const other of view.assets) {
        if (other.status === "broken" || (other.type !== "function" && other.type !== "role")) continue;
        const parsed = parseAsset(other, textOf(await view.read(other)));
        const role = other.type === "role" ? other.name : other.role;
        if (namesIn(parsed).some((name) => meaning("function", name, role)?.id === asset.id))
          users.push(`${other.type} ${role === null || other.type === "role" ? other.name : `${role}/${other.name}`}`);
      }
      return [...new Set(users)];
    },
  };
}

function namesIn(parsed: ParsedAsset): string[] {
  if (parsed.type === "function" && parsed.value) {
    const { requires, transitions } = parsed.value;
    return [...requires, ...transitions.flatMap(({ activate, deactivate }) => [...activate, ...deactivate])];
  }
  if (parsed.type === "role" && parsed.value) return [...parsed.value.functions, ...parsed.value.autoActivate];
  return [];
}

function placeOf(type: AssetType, name: string, role: string | null): string {
  return `${type}\0${role ?? ""}\0${name.normalize("NFC")}`;
}
