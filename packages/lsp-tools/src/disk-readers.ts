import { ToolError } from "@toolhaft/core";
import { type DiskMonitor, type DiskReader, openDiskMonitor } from "./disk-watch.ts";

/** Something that is told of changes: one server over all its lives. */
export interface DiskListener {
  readonly id: string;
  readonly root: string;
}

/** One monitor for each root, one reader for each server. */
export interface DiskReaders {
  /** From now on the listener has a reader of its own, with nothing in it. */
  listen(listener: DiskListener): Promise<void>;
  /** @throws ToolError `internal` when it has never listened */
  of(listener: DiskListener): Promise<{ monitor: DiskMonitor; reader: DiskReader }>;
  drop(listener: DiskListener): void;
  close(): Promise<void>;
}

export function createDiskReaders(mode: "auto" | "watch" | "sweep"): DiskReaders {
  const monitors = new Map<string, Promise<DiskMonitor>>();
  const readers = new Map<DiskListener, DiskReader>();
  const monitorFor = (root: string) => {
    const known = monitors.get(root) ?? openDiskMonitor(root, mode);
    monitors.set(root, known);
    return known;
  };
  const drop = (listener: DiskListener) => {
    readers.get(listener)?.close();
    readers.delete(listener);
  };
  return {
    async listen(listener) {
      const monitor = await monitorFor(listener.root);
      drop(listener);
      readers.set(listener, monitor.reader());
    },
    async of(listener) {
      const reader = readers.get(listener);
      if (!reader) throw new ToolError("internal", `${listener.id} runs without a look at the disk`);
      return { monitor: await monitorFor(listener.root), reader };
    },
    drop,
    async close() {
      for (const monitor of monitors.values()) (await monitor).close();
    },
  };
}
