import { type FSWatcher, type Stats, statSync, watch } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import type { WatchKind } from "./registrations.ts";
import { turn } from "./waiting.ts";

export interface DiskChange {
  path: string;
  kind: WatchKind;
}

/** One listener's view: what has changed since it last looked. */
export interface DiskReader {
  /** The changes since the last call, one per path, in their final form. */
  take(): DiskChange[];
  close(): void;
}

/** Knows which files below a root were created, changed or deleted. */
export interface DiskMonitor {
  readonly mode: "watch" | "sweep";
  /**
   * Resolves when every change that had finished before the call is with the readers.
   * `thorough`: also when a sweep was made just before.
   */
  barrier(thorough: boolean): Promise<void>;
  reader(): DiskReader;
  /** Also looks into a folder that is skipped otherwise, or lies elsewhere. */
  include(folder: string): Promise<void>;
  close(): void;
}

/** Folders that hold no sources of the project and many files. */
export const skippedFolders: ReadonlySet<string> = new Set([
  "node_modules",
  ".git",
  ".hg",
  ".svn",
  ".toolhaft",
  ".cache",
  ".venv",
  "venv",
  "__pycache__",
  ".mypy_cache",
  ".ruff_cache",
  ".gradle",
  ".next",
  ".nuxt",
  ".svelte-kit",
  ".turbo",
  ".terraform",
]);

/** More folders than this are swept: watches are a resource of the whole machine. */
const maxWatchedFolders = 8192;
/** A timestamp this near to the look may hide a later change of the same stamp. */
const timestampDoubtMs = 20;

interface Seen {
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  ino: number;
  doubtful: boolean;
}

/** @param mode `auto`: watches on Linux, sweeps elsewhere. */
export async function openDiskMonitor(root: string, mode: "auto" | "watch" | "sweep"): Promise<DiskMonitor> {
  const readers = new Set<Map<string, WatchKind>>();
  const included = new Set<string>([root]);
  const record = (path: string, kind: WatchKind) => {
    for (const pending of readers) merge(pending, path, kind);
  };
  const wanted = mode === "auto" ? (process.platform === "linux" ? "watch" : "sweep") : mode;
  let state: Watching | Sweeping =
    (wanted === "watch" ? await startWatching([...included], record) : undefined) ??
    (await startSweeping([...included], record));

  return {
    get mode() {
      return state.mode;
    },
    async barrier(thorough) {
      if (state.mode === "watch" && !(await state.settle()))
        state = await startSweeping([...included], record, state.files());
      if (state.mode === "sweep") await state.sweep(thorough);
    },
    reader() {
      const pending = new Map<string, WatchKind>();
      readers.add(pending);
      return {
        take() {
          const changes = [...pending].map(([path, kind]) => ({ path, kind }));
          pending.clear();
          return changes;
        },
        close: () => readers.delete(pending),
      };
    },
    async include(folder) {
      if (included.has(folder)) return;
      included.add(folder);
      await state.include(folder);
    },
    close() {
      readers.clear();
      state.close();
    },
  };
}

/** Two changes of one path become what they amount to. */
function merge(pending: Map<string, WatchKind>, path: string, kind: WatchKind): void {
  const before = pending.get(path);
  if (before === "created" && kind === "deleted") pending.delete(path);
  else if (before === "created") pending.set(path, "created");
  else if (before === "deleted" && kind === "created") pending.set(path, "changed");
  else pending.set(path, kind);
}

interface Watching {
  mode: "watch";
  /** `false`: watches ran out, the caller has to sweep from now on. */
  settle(): Promise<boolean>;
  include(folder: string): Promise<void>;
  files(): Set<string>;
  close(): void;
}

async function startWatching(
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

interface Sweeping {
  mode: "sweep";
  sweep(thorough: boolean): Promise<void>;
  include(folder: string): Promise<void>;
  close(): void;
}

async function startSweeping(
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
