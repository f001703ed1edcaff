import { join, resolve } from "node:path";
import { type ToolContext, ToolError } from "@toolhaft/core";
import { refusedOf } from "./gate.ts";
import type { AssetsOptions } from "./options.ts";
import type { AssetCatalog } from "./store.ts";
import { type DirectoryCatalog, directoryCatalogOf } from "./stores/directory/catalog.ts";
import { defaultRoots, type ResolvedRoot, resolveRoot, userRoots } from "./stores/directory/roots.ts";
import { createView, type View } from "./view.ts";

/** Most directories that one family keeps open. */
const mostOpen = 8;

/** The catalogs of a family: a given one, or one for each directory, opened on first use. */
export interface Desk {
  readonly options: AssetsOptions;
  /** What a call may see, as it is now. */
  view(ctx: ToolContext): Promise<View>;
  /** What a call may see, as it was at the last look at the disk. */
  viewOf(ctx: ToolContext): Promise<View>;
  /** The catalog of a call without a look at the disk. */
  catalog(ctx: ToolContext): AssetCatalog;
  /** The catalog of a directory, for hosts. */
  catalogOf(directory: string): AssetCatalog;
  /** Undefined for a catalog of the host's own. */
  directoryCatalog(ctx: ToolContext): DirectoryCatalog | undefined;
  directoryOf(ctx: ToolContext): string;
  stateDir(ctx: ToolContext): string;
  close(): Promise<void>;
}

export function createDesk(options: AssetsOptions): Desk {
  const open = new Map<string, DirectoryCatalog>();
  let closed = false;

  const directoryOf = (ctx: ToolContext): string => resolve(options.directory ?? ctx.directory);
  const stateDir = (ctx: ToolContext): string => options.stateDir ?? join(directoryOf(ctx), ".toolhaft");

  function directoryCatalog(ctx: ToolContext): DirectoryCatalog | undefined {
    if (options.catalog) return undefined;
    return catalogAt(directoryOf(ctx));
  }

  function catalogAt(directory: string): DirectoryCatalog {
    if (closed) throw new ToolError("unavailable", "the family is closed", { hint: "make a new one" });
    const known = open.get(directory);
    const catalog =
      known ??
      directoryCatalogOf({
        directory,
        roots: rootsOf(options, directory),
        indexPath: join(options.stateDir ?? join(directory, ".toolhaft"), "assets.db"),
        ...(options.watch !== undefined && { watch: options.watch }),
        ...(options.clock && { clock: options.clock }),
      });
    open.delete(directory);
    open.set(directory, catalog);
    return catalog;
  }

  async function closeOldest(): Promise<void> {
    for (const [directory, catalog] of open) {
      if (open.size <= mostOpen) return;
      open.delete(directory);
      await catalog.close();
    }
  }

  return {
    options,
    directoryOf,
    stateDir,
    directoryCatalog,
    catalogOf: (directory) => options.catalog ?? catalogAt(resolve(directory)),
    catalog: (ctx) => options.catalog ?? directoryCatalog(ctx) ?? missing(),
    async view(ctx) {
      const own = directoryCatalog(ctx);
      if (own) {
        await own.refresh({ signal: ctx.signal, gate: (paths) => refusedOf(ctx, paths) });
        await closeOldest();
      }
      const catalog = options.catalog ?? own ?? missing();
      return createView(catalog, own, ctx, directoryOf(ctx));
    },
    viewOf: async (ctx) => {
      const own = directoryCatalog(ctx);
      return createView(options.catalog ?? own ?? missing(), own, ctx, directoryOf(ctx));
    },
    async close() {
      closed = true;
      const all = [...open.values()];
      open.clear();
      for (const catalog of all) await catalog.close();
    },
  };
}

function missing(): never {
  throw new ToolError("internal", "there is no catalog");
}

export function rootsOf(options: AssetsOptions, directory: string): ResolvedRoot[] {
  const project = options.roots?.map((root) => resolveRoot(root, directory)) ?? defaultRoots(directory);
  return options.userRoots ? [...project, ...userRoots(directory)] : project;
}
