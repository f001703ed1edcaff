import type { Clock } from "@toolhaft/core";
import type { Workspace } from "@toolhaft/workspace";
import type { RegistryOptions } from "./config.ts";
import type { Timeouts } from "./definition.ts";

/** What happened in the pool, for logs; never text of documents. */
export interface LspLogEvent {
  type: string;
  server: string;
  detail?: string;
}

export interface EngineOptions extends RegistryOptions {
  workspace?: Workspace | undefined;
  configFile?: string | false | undefined;
  trust?: "ask" | "workspace" | "system" | undefined;
  diskSync?: "auto" | "watch" | "sweep" | undefined;
  timeouts?: Partial<Timeouts> | undefined;
  idleMs?: number | undefined;
  maxServers?: number | undefined;
  maxOpenDocuments?: number | undefined;
  maxFileBytes?: number | undefined;
  clock?: Clock | undefined;
  log?: ((event: LspLogEvent) => void) | undefined;
}
