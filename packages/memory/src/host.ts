import { ToolError } from "@toolhaft/core";
import { nowOf, type PlaceOptions, type Settings } from "./options.ts";
import { type MemoryQuery, type SearchResult, search } from "./search.ts";
import type { Shelf } from "./shelf.ts";
import type { Caller, CheckReport, ExportFilter, MemoryStore, PurgeFilter } from "./store.ts";
import { exportLines, type ImportOptions, type ImportReport, importLines } from "./transfer.ts";

/** What hosts and the command line do with a store: they act as its administrator, not as a role. */
export interface MemoryHost {
  /** Searches as `caller` does; no use is counted. */
  search(caller: Caller, query: HostQuery, signal?: AbortSignal): Promise<SearchResult>;
  /** JSON Lines, each with its newline; all roles unless the filter says otherwise. */
  export(filter?: ExportFilter, signal?: AbortSignal): AsyncIterable<string>;
  /** Reads an export, or the JSONL of the official MCP memory server. */
  import(lines: AsyncIterable<string | Uint8Array>, options?: ImportOptions): Promise<ImportReport>;
  /** What does not fit together; changes nothing. */
  check(): Promise<CheckReport>;
  /** Makes the search index anew while others read and write. */
  repair(): Promise<CheckReport>;
  /** Deletes rows for good; without a filter what is forgotten or superseded. Gives their number. */
  purge(filter: PurgeFilter): Promise<number>;
}

/** A query with defaults: scope `both`, no filters, 10 hits. */
export type HostQuery = Pick<MemoryQuery, "query"> & Partial<MemoryQuery>;

export function createHost(options: PlaceOptions, settings: Settings, shelf: Shelf<MemoryStore>): MemoryHost {
  const never = new AbortController().signal;
  const clock = options.clock ?? { now: () => Date.now() };
  return {
    search(caller, query, signal = never) {
      if (caller.agent === "")
        throw new ToolError("invalid_input", "the caller has no agent name", { hint: "set caller.agent" });
      const whole: MemoryQuery = {
        scope: "both",
        category: null,
        tags: [],
        about: [],
        limit: 10,
        full: false,
        offset: 0,
        ...query,
      };
      return shelf.useDefault((store) => search(store, caller, whole, nowOf({ clock }, options), settings, signal));
    },
    async *export(filter = {}, signal = never) {
      // The store stays open while the consumer reads: the lines are made inside.
      const lines: string[] = [];
      let wake: () => void = () => undefined;
      let ended: { error?: unknown } | undefined;
      let room: () => void = () => undefined;
      let stopped = false;
      void shelf
        .useDefault(async (store) => {
          for await (const line of exportLines(store, filter, nowOf({ clock }, options), signal)) {
            if (stopped) return;
            lines.push(line);
            wake();
            if (lines.length >= 500) await new Promise<void>((resolve) => (room = resolve));
          }
        })
        .then(
          () => (ended = {}),
          (error: unknown) => (ended = { error }),
        )
        .then(() => wake());
      try {
        for (;;) {
          const line = lines.shift();
          if (line !== undefined) {
            room();
            yield line;
          } else if (ended) {
            if ("error" in ended) throw ended.error;
            return;
          } else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        stopped = true;
        room();
      }
    },
    import: (lines, importOptions = {}) =>
      shelf.useDefault((store) => importLines(store, lines, importOptions, nowOf({ clock }, options))),
    check: () => shelf.useDefault((store) => store.check()),
    repair: () => shelf.useDefault((store) => store.repair()),
    purge: (filter) => shelf.useDefault((store) => store.purge(filter, nowOf({ clock }, options))),
  };
}
