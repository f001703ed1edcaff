import type { Family } from "@toolhaft/core";
import { createHost, type MemoryHost } from "./host.ts";
import { createNotes, type NotesOptions } from "./notes.ts";
import type { PlaceOptions } from "./options.ts";
import { createShelf, type Shelf } from "./shelf.ts";
import type { MemoryStore } from "./store.ts";
import { forgetTool } from "./tools/forget.ts";
import { getTool } from "./tools/get.ts";
import { listTool } from "./tools/list.ts";
import { recallTool } from "./tools/recall.ts";
import { updateTool } from "./tools/update.ts";
import { writeTool } from "./tools/write.ts";

export interface MemoryOptions extends NotesOptions {
  /** @default SQLite in the state folder of the call */
  store?: MemoryStore;
}

export type MemoryFamily = Family & MemoryHost;

/**
 * Notes that outlive a session: write, recall, list, read, change, forget. Making the family opens nothing.
 *
 * @example
 * const memory = createMemory();
 * const [write, recall] = memory.tools;
 */
export function createMemory(options: MemoryOptions = {}): MemoryFamily {
  const shelf = memoryShelf(options);
  const notes = createNotes(options, shelf);
  const close = async () => shelf[Symbol.asyncDispose]();
  return {
    name: "memory",
    tools: [writeTool(notes), recallTool(notes), listTool(notes), updateTool(notes), getTool(notes), forgetTool(notes)],
    close,
    [Symbol.asyncDispose]: close,
    ...createHost(options, notes.settings, shelf),
  };
}

/** SQLite is loaded with the first call, not with the package. */
export function memoryShelf(options: PlaceOptions & { store?: MemoryStore }): Shelf<MemoryStore> {
  return createShelf(options, async (path) => {
    const { sqliteMemoryStore } = await import("./stores/sqlite/memory-store.ts");
    return sqliteMemoryStore(fileOptions(options, path));
  });
}

export function fileOptions(options: PlaceOptions, path: string) {
  return {
    path,
    ...(options.lockTimeoutMs !== undefined && { lockTimeoutMs: options.lockTimeoutMs }),
    ...(options.durability && { durability: options.durability }),
    ...(options.clock && { clock: options.clock }),
  };
}
