import type { TextFile } from "@toolhaft/workspace";
import type { Asset, AssetType, Issue } from "./model.ts";

/** What an asset is asked for by. */
export interface AssetKey {
  type: AssetType;
  name: string;
  role?: string;
}

export interface AssetQuery {
  text: string;
  type?: AssetType;
  role?: string;
  limit: number;
  cursor?: string;
  /** Leaves assets out before they are counted. */
  accept?(asset: Asset): boolean;
}

export interface SearchHit {
  asset: Asset;
  /** Higher is better. */
  score: number;
  /** Fields that hold words of the query. */
  matched: string[];
  snippet?: string;
}

export interface SearchPage {
  hits: readonly SearchHit[];
  total: number;
  /** Assets with some of the words, when none has all. */
  near: readonly Asset[];
  nextCursor?: string;
  notes: readonly string[];
}

export interface ReloadTarget {
  type: AssetType;
  name?: string;
  dryRun: boolean;
}

export interface ReloadReport {
  before: string;
  after: string;
  added: readonly Asset[];
  changed: readonly Asset[];
  removed: readonly Asset[];
  unchanged: number;
  watching: boolean;
  issues: readonly Issue[];
}

/** A file of a skill folder. */
export interface SkillFile {
  /** Below the skill's folder, with "/". */
  path: string;
  bytes: number;
  text: boolean;
}

/**
 * Where assets come from. The default reads folders; a host with its own store brings this.
 *
 * Every method takes an `AbortSignal` last and throws `ToolError`.
 */
export interface AssetCatalog {
  /** Changes when any asset does. */
  version(signal?: AbortSignal): Promise<string>;
  /** All copies, shadowed ones included. */
  list(
    filter: { type?: AssetType; role?: string },
    signal?: AbortSignal,
  ): Promise<{ assets: readonly Asset[]; notes: readonly string[] }>;
  get(key: AssetKey, signal?: AbortSignal): Promise<readonly Asset[]>;
  /** The defining file, or a file below the asset's folder. */
  read(asset: Asset, file?: string, signal?: AbortSignal): Promise<TextFile>;
  search(query: AssetQuery, signal?: AbortSignal): Promise<SearchPage>;
  /** Files of a skill; without it only the defining file is known. */
  files?(asset: Asset, signal?: AbortSignal): Promise<readonly SkillFile[]>;
  /** Without it `asset_hot_reload` is `unsupported`. */
  reload?(target: ReloadTarget, signal?: AbortSignal): Promise<ReloadReport>;
  onChange?(listener: (version: string) => void): () => void;
}
