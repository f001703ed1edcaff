import { resolve } from "node:path";
import { nearest, type ToolContext, ToolError } from "@toolhaft/core";
import type { TextFile } from "@toolhaft/workspace";
import { refusedOf } from "./gate.ts";
import { type Asset, type AssetRef, type AssetType, inScope, refOf } from "./model.ts";
import type { AssetCatalog, AssetQuery, SearchPage } from "./store.ts";
import type { DirectoryCatalog } from "./stores/directory/catalog.ts";

/** What one call sees of the catalog: as it was when the call began, without what the gate refuses. */
export interface View {
  readonly ctx: ToolContext;
  readonly catalog: AssetCatalog;
  readonly directory: string;
  readonly version: string;
  readonly notes: readonly string[];
  /** All copies, shadowed ones included. */
  readonly assets: readonly Asset[];
  /** Whether an asset passed the gate. */
  visible(asset: Asset): boolean;
  /** The one asset that a name or id means. @throws ToolError `not_found`, `conflict`, `denied` */
  find(type: AssetType, name: string, role?: string): Asset;
  /** Like `find`, and undefined in place of `not_found`. */
  lookUp(type: AssetType, name: string, role?: string): Asset | undefined;
  near(type: AssetType, name: string, role?: string): string[];
  /** The id of a role as it is kept: `dev--sub` and `dev/sub/` are `dev/sub`. @throws ToolError `not_found` */
  role(roleId: string | undefined): string | undefined;
  /** Absolute real path of the defining file. */
  realPath(asset: Asset): string;
  read(asset: Asset, file?: string): Promise<TextFile>;
  search(query: AssetQuery): Promise<SearchPage>;
}

export async function createView(
  catalog: AssetCatalog,
  own: DirectoryCatalog | undefined,
  ctx: ToolContext,
  directory: string,
): Promise<View> {
  const placed = own?.placed();
  const listed = placed
    ? { assets: placed.map(({ asset }) => asset), notes: own?.notesNow() ?? [] }
    : await catalog.list({}, ctx.signal);
  const version = own ? own.versionNow() : await catalog.version(ctx.signal);
  const realPath = (asset: Asset): string => own?.realPath(asset) ?? resolve(directory, asset.path);
  const refused = await refusedOf(ctx, listed.assets.map(realPath));
  const visible = (asset: Asset): boolean => refused.size === 0 || !refused.has(realPath(asset));
  const assets = refused.size === 0 ? listed.assets : listed.assets.filter(visible);
  const left = listed.assets.length - assets.length;
  const notes =
    left === 0
      ? listed.notes
      : [...listed.notes, `${left} ${left === 1 ? "asset was" : "assets were"} left out: no permission to read`];

  const named = (from: readonly Asset[], type: AssetType, name: string): Asset[] => {
    const byId = from.filter((asset) => asset.type === type && asset.id === name);
    if (byId.length > 0) return byId;
    const wanted = nameOf(type, name);
    return from.filter((asset) => asset.type === type && asset.name.normalize("NFC") === wanted);
  };
  const near = (type: AssetType, name: string, role?: string): string[] =>
    nearest(
      nameOf(type, name),
      new Set(
        assets
          .filter((asset) => asset.type === type && (role === undefined || inScope(asset, role)))
          .map((asset) => asset.name),
      ),
      5,
    );

  function lookUp(type: AssetType, name: string, role?: string): Asset | undefined {
    const all = named(assets, type, name).filter((asset) => role === undefined || inScope(asset, role));
    if (all.some((asset) => asset.id === name)) return all.find((asset) => asset.id === name);
    const active = all.filter((asset) => asset.shadowedBy === undefined);
    const exact = role === undefined ? [] : active.filter((asset) => asset.role === role);
    const chosen = exact.length > 0 ? exact : active;
    if (chosen.length > 1) throw ambiguous(type, name, chosen);
    if (chosen.length === 0 && named(listed.assets, type, name).some((asset) => !visible(asset))) {
      throw new ToolError("denied", `${type} ${name}: no permission to read its file`, {
        hint: "let the host allow file.read for it",
      });
    }
    return chosen[0];
  }

  return {
    ctx,
    catalog,
    directory,
    version,
    notes,
    assets,
    visible,
    lookUp,
    near,
    realPath,
    find(type, name, role) {
      const found = lookUp(type, name, role);
      if (found) return found;
      const close = near(type, name, role);
      throw new ToolError("not_found", `there is no ${type} ${name}${role === undefined ? "" : ` in role ${role}`}`, {
        hint:
          close.length > 0
            ? `did you mean ${close.join(", ")}?`
            : `${ctx.toolName("asset_search")} finds what there is`,
        details: { near: close },
      });
    },
    role(roleId) {
      if (roleId === undefined) return undefined;
      const id = nameOf("role", roleId).replace(/\/+$/, "");
      const roles = listed.assets.filter(({ type }) => type === "role");
      const found = roles.find(({ name, id: full }) => name === id || full === roleId);
      if (found) return found.name;
      const close = nearest(
        id,
        roles.map(({ name }) => name),
        5,
      );
      throw new ToolError("not_found", `there is no role ${roleId}`, {
        hint:
          close.length > 0
            ? `did you mean ${close.join(", ")}?`
            : `${ctx.toolName("asset_search")} with type role lists them`,
        details: { near: close },
      });
    },
    read: (asset, file) => catalog.read(asset, file, ctx.signal),
    search: (query) => {
      const shown = { ...query, accept: visible };
      return own
        ? own.searchNow(shown, ctx.signal, (paths) => refusedOf(ctx, paths))
        : catalog.search(shown, ctx.signal);
    },
  };
}

function nameOf(type: AssetType, name: string): string {
  const normal = name.normalize("NFC");
  return type === "role" ? normal.replaceAll("--", "/") : normal;
}

function ambiguous(type: AssetType, name: string, found: readonly Asset[]): ToolError {
  const places = found.map(({ id, role, root }) => `${id} (role ${role ?? "none"}, root ${root})`);
  return new ToolError("conflict", `${type} ${name} is the name of ${found.length} assets: ${places.join("; ")}`, {
    hint: "give role_id, or one of the ids as the name",
    retryable: false,
    details: { candidates: found.map((asset): AssetRef => refOf(asset)) },
  });
}
