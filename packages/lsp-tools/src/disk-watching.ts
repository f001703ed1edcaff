import { type FSWatcher, type Stats, statSync, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import type { WatchKind } from "./registrations.ts";
import { skippedFolders } from "./skipped-folders.ts";
import { turn } from "./waiting.ts";

/** More folders than this are swept: watches are a resource of the whole machine. */
const maxWatchedFolders = 8192;

/** Directory watches: after two turns of the event loop every finished change is known. */
export interface Watching {
  mode: "watch";
  /** `false`: watches ran out, the caller has to sweep from now on. */
  settle(): Promise<boolean>;
  include(folder: string): Promise<void>;
  files(): Set<string>;
  close(): void;
}

/** @returns `undefined` when there are not enough watches */
export async function startWatching(
  folders: readonly string[],
  record: (path: string, kind: WatchKind) => void,
): Promise<Watching | undefined> {
  const watchers = new Map<string, FSWatcher>();
  const files = new Set<string>();
  const dirty = new Set<string>();
  let failed = false;

  const close = () => {
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
  };
  const watchFolder = (folder: string): boolean => {
    if (watchers.has(folder)) return false;
    if (watchers.size >= maxWatchedFolders) {
      failed = true;
      return false;
    }
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name === null) dirty.add(folder);
        else dirty.add(join(folder, name));
      });
      watcher.on("error", () => {
        watcher.close();
        watchers.delete(folder);
      });
      watchers.set(folder, watcher);
      return true;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== "ENOENT" && code !== "ENOTDIR") failed = true;
      return false;
    }
  };
  // watched first, listed after: nothing falls between
  const scan = async (folder: string, found: (path: string) => void): Promise<void> => {
    if (failed || !watchFolder(folder)) return;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!skippedFolders.has(entry.name)) await scan(path, found);
      } else if (!files.has(path)) {
        files.add(path);
        found(path);
      }
    }
  };
  const forget = (path: string) => {
    watchers.get(path)?.close();
    if (!watchers.delete(path)) return;
    const prefix = path + sep;
    for (const file of files) {
      if (!file.startsWith(prefix)) continue;
      files.delete(file);
      record(file, "deleted");
    }
    for (const [folder, watcher] of watchers) {
      if (!folder.startsWith(prefix)) continue;
      watcher.close();
      watchers.delete(folder);
    }
  };
  const look = async (path: string): Promise<boolean> => {
    const stats = statOf(path);
    if (stats?.isDirectory()) {
      if (skippedFolders.has(basename(path)) && !watchers.has(path)) return false;
      if (watchers.has(path)) return false;
      await scan(path, (file) => record(file, "created"));
      return true;
    }
    if (stats === undefined) {
      if (files.delete(path)) record(path, "deleted");
      else forget(path);
      return false;
    }
    if (watchers.has(path)) forget(path);
    record(path, files.has(path) ? "changed" : "created");
    files.add(path);
    return false;
  };

  for (const folder of folders) await scan(folder, () => {});
  if (failed) {
    close();
    return undefined;
  }
  return {
    mode: "watch",
    async settle() {
      for (let again = true; again; ) {
        again = false;
        // events of finished changes lie in the kernel's queue: one turn reads them, the next runs their callbacks
        await turn();
        await turn();
        const paths = [...dirty];
        dirty.clear();
        for (const path of paths) if (await look(path)) again = true;
        if (failed) {
          close();
          return false;
        }
      }
      return true;
    },
    include: (folder) => scan(folder, () => {}),
    files: () => files,
    close,
  };
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // a folder above it is gone or became a file
  }
}
