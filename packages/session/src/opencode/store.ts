import type { SessionForker } from "../store.ts";
import { type IndexedStore, transcriptStore } from "../stores/transcript-store.ts";
import { opencodeForker } from "./fork.ts";
import { opencodeData, opencodeFormat } from "./format.ts";
import type { OpencodeStoreOptions } from "./options.ts";

/** Sessions that opencode keeps. Forks are the host's own work: they need its server or its program. */
export function opencodeStore(options: OpencodeStoreOptions = {}): IndexedStore {
  const data = options.data ?? opencodeData();
  const format = opencodeFormat(data, options.data === undefined ? process.env.OPENCODE_DB : undefined);
  const canFork = options.server !== undefined || options.command !== undefined;
  return transcriptStore({
    format,
    unsupported: canFork
      ? {}
      : { fork: "opencode forks its sessions itself: give opencodeStore a server or a command for it" },
    ...(canFork && { forker: (_home, reader): SessionForker => opencodeForker(options, reader) }),
    close: async () => format[Symbol.asyncDispose](),
  });
}
