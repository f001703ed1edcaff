import type { Dirent } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";

export type Listed = { entry: Dirent; path: string } | { unreadable: string; cause: string };

/** Entries of a folder, by name; an absent folder has none, one that cannot be read is told. */
export async function listFolder(path: string): Promise<readonly Listed[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    const stem = join(path, sep);
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1)).map((entry) => ({ entry, path: stem + entry.name }));
  } catch (error) {
    if (isMissing(error)) return [];
    return [{ unreadable: path, cause: error instanceof Error ? error.message : String(error) }];
  }
}

/** Whether a path is, or through links leads to, something below the root. */
export async function staysInside(root: string, path: string): Promise<boolean> {
  try {
    const [realRoot, real] = await Promise.all([realpath(root), realpath(path)]);
    return real === realRoot || real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep);
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Absent, a dangling link, or a link that leads to itself. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && ["ENOENT", "ENOTDIR", "ELOOP"].includes(String(error.code));
}
