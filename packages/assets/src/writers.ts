import { isAbsolute, resolve } from "node:path";
import type { ToolContext } from "@toolhaft/core";
import { createWorkspace, type Workspace } from "@toolhaft/workspace";
import type { Desk } from "./desk.ts";
import type { Asset } from "./model.ts";
import { isInside } from "./paths.ts";
import type { ResolvedRoot } from "./stores/directory/roots.ts";

/** Who writes files of assets, and which may be written. */
export interface Writers {
  workspace(ctx: ToolContext): Workspace;
  isWritable(ctx: ToolContext, asset: Asset): boolean;
  rootOf(ctx: ToolContext, asset: Asset): ResolvedRoot | undefined;
  close(): Promise<void>;
}

export function createWriters(desk: Desk): Writers {
  const open = new Map<string, Workspace>();
  const rootOf = (ctx: ToolContext, asset: Asset): ResolvedRoot | undefined => {
    const roots = desk.directoryCatalog(ctx)?.roots ?? [];
    const path = isAbsolute(asset.path) ? asset.path : resolve(desk.directoryOf(ctx), asset.path);
    return (
      roots.find((root) => root.label === asset.root && isInside(root.path, path)) ??
      roots.find((root) => isInside(root.path, path))
    );
  };
  return {
    workspace(ctx) {
      if (desk.options.workspace) return desk.options.workspace;
      const root = desk.directoryOf(ctx);
      const known = open.get(root);
      if (known) return known;
      const made = createWorkspace({ root, ...(desk.options.clock && { clock: desk.options.clock }) });
      open.set(root, made);
      return made;
    },
    isWritable: (ctx, asset) => rootOf(ctx, asset)?.writable ?? false,
    rootOf,
    async close() {
      const all = [...open.values()];
      open.clear();
      for (const workspace of all) await workspace.close();
    },
  };
}
