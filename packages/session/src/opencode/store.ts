import type { SessionForker } from "../store.ts";
import { type IndexedStore, transcriptStore } from "../stores/transcript-store.ts";
import { opencodeForker } from "./fork.ts";
import { opencodeData, opencodeFormat } from "./format.ts";

export interface OpencodeStoreOptions {
  /** Its data folder. @default `$XDG_DATA_HOME/opencode`, else `~/.local/share/opencode` */
  data?: string;
  /** A running `opencode serve`, for forks. */
  server?: { url: string; headers?: Record<string, string> };
  /** The program, for forks: a server is started on loopback and stopped again. */
  command?: string;
}

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
