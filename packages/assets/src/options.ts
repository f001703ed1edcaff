import type { ScanOptions, ToolClasses } from "@toolhaft/asset-format";
import type { Clock } from "@toolhaft/core";
import type { LineSplice, TextFile, Workspace } from "@toolhaft/workspace";
import type { Asset, Issue } from "./model.ts";
import type { AssetCatalog } from "./store.ts";
import type { Root } from "./stores/directory/roots.ts";

export interface AssetsOptions {
  /** Where assets are looked for. @default the directory of the call */
  directory?: string;
  /** In place of the default roots. */
  roots?: readonly Root[];
  /** Also looks into the same folders of the home folder, read-only. @default false */
  userRoots?: boolean;
  /** A store of your own in place of folders. */
  catalog?: AssetCatalog;
  /** Writes the files. @default one over the directory */
  workspace?: Workspace;
  /** Folder of `assets.db` and `skills.db`. @default `<directory>/.toolhaft` */
  stateDir?: string;
  /** Watches the folders, so that quiet calls need not look at the disk. @default false */
  watch?: boolean;
  /** Whether `asset_hot_reload` may be used. @default true */
  hotReload?: boolean;
  clock?: Clock;
  /** `grant`: `allowed-tools` pre-approves. `restrict`: it fences. @default "grant" */
  semantics?: "grant" | "restrict";
  /** Classes of tools by name in lower case, added to the known ones. */
  toolClasses?: ToolClasses;
  scan?: ScanOptions;
  /** Rules of a host, added to those of `asset_validate`. */
  rules?: readonly AssetRule[];
  /** Adds the tools that change skills. @default false */
  evolve?: boolean | EvolveOptions;
}

export interface EvolveOptions {
  /** Folder of new skills. @default the first writable skills root, else `.agents/skills` */
  root?: string;
  /** How much history is kept for each skill. @default { versions: 100, bytes: 52_428_800 } */
  history?: { versions?: number; bytes?: number };
}

/** What a rule looks at: all assets in scope with their texts. */
export interface CatalogView {
  readonly assets: readonly Asset[];
  /** Undefined where the file is no text. */
  text(asset: Asset): string | undefined;
}

/** A rule of a host for `asset_validate`. */
export interface AssetRule {
  id: string;
  severity: "error" | "warning";
  check(view: CatalogView): readonly Issue[];
  /** Undefined where it cannot be repaired without deciding for the author. */
  fix?(issue: Issue, file: TextFile): LineSplice[] | undefined;
}
