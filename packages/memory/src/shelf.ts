import { join } from "node:path";
import { isToolError, type ToolContext } from "@toolhaft/core";
import type { PlaceOptions } from "./options.ts";

/** Most files that one family keeps open. */
const mostOpen = 8;

/** The stores of a family: one that was given, or one per state folder, opened on first use. */
export interface Shelf<Store> extends AsyncDisposable {
  /** Runs work with the store of a call; the store stays open meanwhile. */
  use<T>(ctx: ToolContext, work: (store: Store) => Promise<T>): Promise<T>;
  /** For hosts, who have no context: the given store, or the one at the option `path`. */
  useDefault<T>(work: (store: Store) => Promise<T>): Promise<T>;
}

export function createShelf<Store extends AsyncDisposable>(
  options: PlaceOptions & { store?: Store },
  open: (path: string) => Promise<Store>,
): Shelf<Store> {
  const slots = new Map<string, { store: Promise<Store>; users: number }>();
  let closed = false;

  return {
    use: (ctx, work) => (options.store ? work(options.store) : usePath(pathOf(ctx), work)),
    useDefault: (work) =>
      options.store
        ? work(options.store)
        : usePath(options.path ?? join(process.cwd(), ".toolhaft", "memory.db"), work),
    async [Symbol.asyncDispose]() {
      closed = true;
      const open = [...slots.values()];
      slots.clear();
      for (const slot of open) await (await slot.store)[Symbol.asyncDispose]();
      await options.store?.[Symbol.asyncDispose]();
    },
  };

  function pathOf(ctx: ToolContext): string {
    if (options.path !== undefined) return options.path;
    return join(options.stateDir?.(ctx) ?? join(ctx.directory, ".toolhaft"), "memory.db");
  }

  async function usePath<T>(path: string, work: (store: Store) => Promise<T>): Promise<T> {
    if (closed) throw new Error("the family is closed");
    const slot = slots.get(path) ?? { store: open(path), users: 0 };
    // Most recently used last.
    slots.delete(path);
    slots.set(path, slot);
    slot.users++;
    try {
      return await work(await slot.store);
    } catch (error) {
      // Damaged, full or gone: the next call starts with what is there then.
      if (isToolError(error) && error.code === "unavailable" && slots.get(path) === slot) slots.delete(path);
      throw error;
    } finally {
      slot.users--;
      if (slot.users === 0 && slots.get(path) !== slot) await (await slot.store)[Symbol.asyncDispose]();
      await closeIdle();
    }
  }

  async function closeIdle(): Promise<void> {
    for (const [path, slot] of slots) {
      if (slots.size <= mostOpen) return;
      if (slot.users > 0) continue;
      slots.delete(path);
      await (await slot.store)[Symbol.asyncDispose]();
    }
  }
}
