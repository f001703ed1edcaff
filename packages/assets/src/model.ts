/** The four kinds of files that steer an agent. */
export const assetTypes = ["skill", "function", "reference", "role"] as const;
export type AssetType = (typeof assetTypes)[number];

/** What names an asset and says where it stands. */
export interface AssetRef {
  /** `<type>:<path of the defining file>`, with `#<name>` for an entry inside it; unique. */
  id: string;
  type: AssetType;
  name: string;
  /** The role it belongs to; of a role its parent. */
  role: string | null;
  /** Label of the root it was found in. */
  root: string;
  /** Relative to the directory, absolute outside. */
  path: string;
}

export interface Asset extends AssetRef {
  description: string;
  tags: string[];
  /** Roles that list it. */
  owners: string[];
  status: "ok" | "broken";
  /** Of a function: its `phase`. */
  label?: string;
  bytes: number;
  /** Milliseconds since the epoch. */
  modifiedAt: number;
  /** Hex SHA-256 of the defining file. */
  version: string;
  /** Other paths of the same file. */
  aliases: string[];
  /** Id of the copy in an earlier root that stands before this one. */
  shadowedBy?: string;
}

/** A window of a text in code points. */
export interface Content {
  text: string;
  offset: number;
  totalChars: number;
  nextOffset?: number;
}

export interface IssueFix {
  description: string;
  diff: string;
}

/** One thing that is wrong with an asset. */
export interface Issue {
  rule: string;
  severity: "error" | "warning";
  asset: AssetRef;
  /** Relative to the directory. */
  file: string;
  line?: number;
  column?: number;
  message: string;
  hint: string;
  fix?: IssueFix;
}

/** One state of a skill in its history. */
export interface SkillVersion {
  version: number;
  /** The version before it; null for the first. */
  parent: number | null;
  /** The version whose content it has: itself, unless it is a rollback. */
  origin: number;
  op: string;
  changelog: string;
  agent: string;
  sessionId: string;
  callId: string;
  at: number;
  treeSha256: string;
  strategy?: string;
}

export function refOf(asset: Asset): AssetRef {
  const { id, type, name, role, root, path } = asset;
  return { id, type, name, role, root, path };
}

/** Whether `role` is `scope` or below it, by path segment. */
export function isBelow(scope: string, role: string | null): boolean {
  return role !== null && (role === scope || role.startsWith(`${scope}/`));
}

/** Whether an asset belongs to a role or one below it, or is listed by one. */
export function inScope(asset: Asset, scope: string): boolean {
  if (isBelow(scope, asset.type === "role" ? asset.name : asset.role)) return true;
  return asset.owners.some((owner) => isBelow(scope, owner));
}

/** Whether an asset is of a type and in the scope of a role, where those are given. */
export function fits(asset: Asset, type: AssetType | undefined, role: string | undefined): boolean {
  return (type === undefined || asset.type === type) && (role === undefined || inScope(asset, role));
}

/** Roles whose assets a role sees: itself, its parents, and null for what belongs to none. */
export function visibleFrom(role: string | null): (string | null)[] {
  const seen: (string | null)[] = [];
  for (let at = role; at !== null; at = at.includes("/") ? at.slice(0, at.lastIndexOf("/")) : null) seen.push(at);
  return [...seen, null];
}

/** Plain order of code units, the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
