export { type Assets, createAssets } from "./assets.ts";
export type { Asset, AssetRef, AssetType, Content, Issue, IssueFix, SkillVersion } from "./model.ts";
export type { AssetRule, AssetsOptions, CatalogView, EvolveOptions } from "./options.ts";
export type {
  AssetCatalog,
  AssetKey,
  AssetQuery,
  ReloadReport,
  ReloadTarget,
  SearchHit,
  SearchPage,
  SkillFile,
} from "./store.ts";
export type { DirectoryCatalog } from "./stores/directory/catalog.ts";
export { type DirectoryCatalogOptions, directoryCatalog } from "./stores/directory/index.ts";
export type { Root } from "./stores/directory/roots.ts";
export { type MemoryAsset, memoryCatalog } from "./stores/memory.ts";
