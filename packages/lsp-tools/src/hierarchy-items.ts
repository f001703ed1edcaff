import { createId, ToolError } from "@toolhaft/core";
import type { CallHierarchyItem } from "vscode-languageserver-protocol";
import type { ServerEntry } from "./entry.ts";
import type { ServerLife } from "./server.ts";
import type { Serving } from "./serving.ts";

/** A server's hierarchy item kept under a handle, with all that makes it valid. */
export interface KeptItem {
  item: CallHierarchyItem;
  serving: Serving;
  life: ServerLife;
  /** Real path and version of the document it was made from. */
  path: string;
  version: string;
}

/** Handles for hierarchy items: a server's `data` never passes through a model. */
export interface HierarchyItems {
  keep(kept: KeptItem): string;
  /** @throws ToolError `not_found` when the handle is unknown, or its server or document has changed */
  take(handle: string, versionOf: (path: string) => Promise<string | undefined>): Promise<KeptItem>;
}

const maxKept = 500;

export function createHierarchyItems(): HierarchyItems {
  const kept = new Map<string, KeptItem>();
  return {
    keep(item) {
      const handle = `call_${createId()}`;
      kept.set(handle, item);
      if (kept.size > maxKept)
        for (const oldest of kept.keys()) {
          kept.delete(oldest);
          break;
        }
      return handle;
    },
    async take(handle, versionOf) {
      const item = kept.get(handle);
      if (item === undefined) throw gone(handle, "is not known");
      if (!sameLife(item.serving.entry, item.life)) throw gone(handle, "belongs to a server that has been restarted");
      if ((await versionOf(item.path)) !== item.version) throw gone(handle, "belongs to a file that has changed");
      return item;
    },
  };
}

function sameLife(entry: ServerEntry, life: ServerLife): boolean {
  return entry.life === life && life.loss === undefined;
}

function gone(handle: string, why: string): ToolError {
  return new ToolError("not_found", `item ${handle} ${why}`, {
    hint: 'make a new one: lsp_prepare_call_hierarchy {"filePath":…,"symbol":…}, or give filePath and symbol here',
  });
}
