import { type Sweeping, startSweeping } from "./disk-sweeping.ts";
import { startWatching, type Watching } from "./disk-watching.ts";
import type { WatchKind } from "./registrations.ts";

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
