import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import picomatch from "picomatch";
import type { ServerDefinition } from "./definition.ts";
import { isInside } from "./uris.ts";

/** The folders from a file's own up to and including `top`; only its own when it lies elsewhere. */
export function foldersUp(file: string, top: string): string[] {
  const folders: string[] = [];
  const first = dirname(file);
  if (!isInside(top, first)) return [first];
  for (let at = first; ; at = dirname(at)) {
    folders.push(at);
    if (at === top || dirname(at) === at) return folders;
  }
}

/** Whether a folder holds one of these names; names may be globs. */
export function holdsMarker(folder: string, markers: readonly string[]): string | undefined {
  let names: string[] | undefined;
  for (const marker of markers) {
    if (!/[*?[{]/.test(marker)) {
      if (existsSync(join(folder, marker))) return marker;
      continue;
    }
    names ??= list(folder);
    const isMatch = picomatch(marker, { dot: true });
    const hit = names.find((name) => isMatch(name));
    if (hit !== undefined) return hit;
  }
  return undefined;
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not readable, or gone: then it marks nothing
  }
}

/**
 * The folder a server works in: the nearest (or outermost) one above the file with a marker, not above the worktree;
 * else the directory, or the file's own folder when it lies outside.
 */
export function findRoot(
  definition: ServerDefinition,
  file: string,
  scope: { directory: string; worktree: string },
): string {
  const top = isInside(scope.worktree, file) ? scope.worktree : scope.directory;
  const folders = foldersUp(file, top);
  const { markers, pick, first } = definition.root;
  if (first) {
    const workspace = folders.findLast((folder) => holdsMarker(folder, first) !== undefined);
    if (workspace !== undefined) return workspace;
  }
  const marked = folders.filter((folder) => holdsMarker(folder, markers) !== undefined);
  const root = pick === "nearest" ? marked[0] : marked.at(-1);
  if (root !== undefined) return root;
  return isInside(scope.directory, file) ? scope.directory : dirname(file);
}
