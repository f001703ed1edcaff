import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { type ToolContext, ToolError } from "@toolhaft/core";
import { checkText } from "../checks.ts";
import type { Desk } from "../desk.ts";
import type { Asset, AssetRef } from "../model.ts";
import { isInside, shownPath } from "../paths.ts";
import { realOrSame, slashes } from "../stores/directory/roots.ts";
import type { View } from "../view.ts";
import type { Writers } from "../writers.ts";
import { exists } from "./tree.ts";

/** Where a skill lies that is changed. */
export interface Place {
  /** Real folder. */
  folder: string;
  name: string;
  /** Undefined while the skill is not there. */
  asset?: Asset;
}

export interface Places {
  /** The skill that a name means, in a writable root; with `deleted` also one that is only in the history. */
  placeOf(ctx: ToolContext, given: string, deleted?: boolean): Promise<Place>;
  /** Where a new skill goes. */
  newFolder(ctx: ToolContext, name: string): string;
  /** What a skill that is in no catalog is called. */
  newRef(ctx: ToolContext, place: Place): AssetRef;
}

export function createPlaces(desk: Desk, writers: Writers): Places {
  return { placeOf, newFolder, newRef };

  async function placeOf(ctx: ToolContext, given: string, deleted = false): Promise<Place> {
    const name = checkText("name", given, 300, '"pdf-forms"');
    const view = await desk.view(ctx);
    const asset = view.lookUp("skill", name);
    if (!asset && deleted) {
      const plain = name.replace(/^skill:/, "").replace(/\/(?:SKILL|skill)\.md$/, "");
      const folder = name === plain ? newFolder(ctx, name) : resolve(view.directory, plain);
      return { folder: realOrSame(folder), name: basename(folder) };
    }
    if (!asset) {
      view.find("skill", name);
      throw new ToolError("not_found", `there is no skill ${name}`);
    }
    if (!writers.isWritable(ctx, asset))
      throw new ToolError("denied", `${asset.path} lies in the read-only root ${asset.root}`, {
        hint: "copy the skill into a writable root",
      });
    return { folder: dirname(view.realPath(asset)), name: asset.name, asset };
  }

  function newFolder(ctx: ToolContext, name: string): string {
    const directory = desk.directoryOf(ctx);
    const { evolve } = desk.options;
    const given = typeof evolve === "object" ? evolve.root : undefined;
    const roots = desk.directoryCatalog(ctx)?.roots;
    if (!roots)
      throw new ToolError("unsupported", "this catalog has no writable root", {
        hint: "skills can be changed in folders only",
      });
    if (given !== undefined) return join(realOrSame(resolve(directory, given)), name);
    const parts = roots
      .filter(({ writable }) => writable)
      .flatMap(({ parts: found }) => found.filter(({ part }) => part === "skills"));
    const first = parts.find(({ path }) => exists(path));
    if (!first && parts.length === 0)
      throw new ToolError("denied", "no root is writable", { hint: "give a writable root in the options" });
    return join(realOrSame(first?.path ?? join(directory, ".agents", "skills")), name);
  }

  function newRef(ctx: ToolContext, { folder, name }: Place): AssetRef {
    const directory = desk.directoryOf(ctx);
    const path = shownPath(join(folder, "SKILL.md"), directory);
    const roots = desk.directoryCatalog(ctx)?.roots ?? [];
    const root = roots.find((one) => isInside(realOrSame(one.path), folder));
    return {
      id: `skill:${path}`,
      type: "skill",
      name,
      role: null,
      root: root?.label ?? slashes(relative(directory, dirname(folder))),
      path,
    };
  }
}

/** Whether an asset lies in a skill folder of a folder. */
export function isIn(view: View, asset: Asset, folder: string): boolean {
  const path = isAbsolute(asset.path) ? asset.path : join(view.directory, asset.path);
  return dirname(dirname(path)) === folder;
}
