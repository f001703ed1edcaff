import { join, resolve } from "node:path";
import type { Clock } from "@toolhaft/core";
import { type DirectoryCatalog, directoryCatalogOf } from "./catalog.ts";
import { defaultRoots, type Root, resolveRoot } from "./roots.ts";

export interface DirectoryCatalogOptions {
  /** Where relative roots start and paths are shown from. @default the working directory */
  directory?: string;
  /** File of the index. @default `<directory>/.toolhaft/assets.db` */
  indexPath?: string;
  watch?: boolean;
  clock?: Clock;
  /** Told of every defining file that is read. */
  onRead?(path: string): void;
}

/** A catalog over folders; without roots over the default ones. Files outside the roots and the directory are not read. */
export function directoryCatalog(roots?: readonly Root[], options: DirectoryCatalogOptions = {}): DirectoryCatalog {
  const directory = resolve(options.directory ?? process.cwd());
  return directoryCatalogOf({
    ...options,
    directory,
    roots: roots?.map((root) => resolveRoot(root, directory)) ?? defaultRoots(directory),
    indexPath: options.indexPath ?? join(directory, ".toolhaft", "assets.db"),
  });
}
