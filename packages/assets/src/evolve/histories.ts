import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { ToolContext } from "@toolhaft/core";
import type { Desk } from "../desk.ts";
import type { Asset, SkillVersion } from "../model.ts";
import { isInside } from "../paths.ts";
import { realOrSame, slashes } from "../stores/directory/roots.ts";
import type { Writers } from "../writers.ts";
import { openSkillStore, type SkillStore } from "./skill-store.ts";

/** Where the history of a skill is kept, and under which key. */
export interface Shelf {
  store: SkillStore;
  key: string;
}

/** The histories of a family, opened on first use. */
export interface Histories {
  /** Undefined when nothing was ever changed here. */
  read(ctx: ToolContext, asset: Asset): Promise<SkillVersion[] | undefined>;
  /** The shelf of a skill's real folder. */
  open(ctx: ToolContext, folder: string): Promise<Shelf>;
  close(): void;
}

export function createHistories(desk: Desk, writers: Writers): Histories {
  const open = new Map<string, Promise<SkillStore>>();

  /** The state folder beside the files: that of the directory, or of a root that lies elsewhere. */
  function placeOf(ctx: ToolContext, folder: string): { path: string; key: string } {
    const directory = realOrSame(desk.directoryOf(ctx));
    if (isInside(directory, folder))
      return { path: join(desk.stateDir(ctx), "skills.db"), key: slashes(relative(directory, folder)) };
    const roots = desk.directoryCatalog(ctx)?.roots ?? [];
    const root = roots.map(({ path }) => realOrSame(path)).find((path) => isInside(path, folder)) ?? dirname(folder);
    return { path: join(root, ".toolhaft", "skills.db"), key: slashes(relative(root, folder)) };
  }

  function storeAt(path: string): Promise<SkillStore> {
    const known = open.get(path);
    if (known) return known;
    const opening = openSkillStore(path, desk.options.clock);
    open.set(path, opening);
    opening.catch(() => open.delete(path));
    return opening;
  }

  return {
    async read(ctx, asset) {
      if (!writers.rootOf(ctx, asset)) return undefined;
      const path = realOrSame(join(desk.directoryOf(ctx), asset.path));
      const place = placeOf(ctx, dirname(path));
      if (!existsSync(place.path)) return undefined;
      const store = await storeAt(place.path);
      return store.versions(place.key).flatMap(({ pending, ...version }) => (pending ? [] : [version]));
    },
    async open(ctx, folder) {
      const { path, key } = placeOf(ctx, folder);
      return { store: await storeAt(path), key };
    },
    close() {
      for (const opening of open.values()) opening.then((store) => store.close()).catch(() => undefined);
      open.clear();
    },
  };
}
