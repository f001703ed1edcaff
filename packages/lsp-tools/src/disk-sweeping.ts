import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { WatchKind } from "./registrations.ts";
import { skippedFolders } from "./skipped-folders.ts";

/** A timestamp this near to the look may hide a later change of the same stamp. */
const timestampDoubtMs = 20;

interface Seen {
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  ino: number;
  doubtful: boolean;
}

/** Looks at every file's stamp: where there are no watches, or not enough of them. */
export interface Sweeping {
  mode: "sweep";
  sweep(thorough: boolean): Promise<void>;
  include(folder: string): Promise<void>;
  close(): void;
}

export async function startSweeping(
  folders: readonly string[],
  record: (path: string, kind: WatchKind) => void,
  known?: ReadonlySet<string>,
): Promise<Sweeping> {
  const roots = new Set(folders);
  let seen = new Map<string, Seen>();
  let lastEnd = Number.NEGATIVE_INFINITY;
  let duration = 0;
  let running: Promise<void> | undefined;

  const walk = async (folder: string, into: Map<string, Seen>): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    await Promise.all(
      entries.map(async (entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) {
          if (!skippedFolders.has(entry.name)) await walk(path, into);
          return;
        }
        const stats = await lstat(path).catch(() => undefined);
        if (stats === undefined) return;
        const { size, mtimeMs, ctimeMs, ino } = stats;
        into.set(path, { size, mtimeMs, ctimeMs, ino, doubtful: Date.now() - mtimeMs < timestampDoubtMs });
      }),
    );
  };
  const look = async (report: boolean): Promise<void> => {
    const started = performance.now();
    const now = new Map<string, Seen>();
    for (const root of roots) await walk(root, now);
    if (report) {
      for (const [path, next] of now) {
        const before = seen.get(path);
        if (before === undefined) record(path, "created");
        else if (
          before.doubtful ||
          before.mtimeMs !== next.mtimeMs ||
          before.size !== next.size ||
          before.ctimeMs !== next.ctimeMs ||
          before.ino !== next.ino
        ) {
          record(path, "changed");
        }
      }
      for (const path of seen.keys()) if (!now.has(path)) record(path, "deleted");
    }
    seen = now;
    lastEnd = performance.now();
    duration = lastEnd - started;
  };
  await look(false);
  if (known) {
    // taken over from watches: whatever they had not told yet is told now
    for (const path of seen.keys()) record(path, known.has(path) ? "changed" : "created");
    for (const path of known) if (!seen.has(path)) record(path, "deleted");
  }
  return {
    mode: "sweep",
    async sweep(thorough) {
      if (!thorough && performance.now() - lastEnd < duration * 20) return;
      // a sweep that runs already may have passed the folder that changed just now
      while (running) await running;
      running = look(true).finally(() => {
        running = undefined;
      });
      await running;
    },
    async include(folder) {
      roots.add(folder);
      const more = new Map<string, Seen>();
      await walk(folder, more);
      for (const [path, stats] of more) seen.set(path, stats);
    },
    close() {},
  };
}
