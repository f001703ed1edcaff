import type { Clock, Family, ToolContext } from "@toolhaft/core";
import type { Workspace } from "@toolhaft/workspace";
import type { Caller } from "./caller.ts";
import type { TaskBackend } from "./store.ts";

export interface SqliteTasksOptions {
  /** @default `.toolhaft/tasks.db` of the working directory */
  path?: string;
  /** `full` also survives a power loss. @default "normal" */
  durability?: "normal" | "full";
  /** Decides leases and limits. @default the system's clock */
  clock?: Clock;
}

export interface TasksOptions {
  /** @default SQLite in `<directory>/.toolhaft/tasks.db` of each call */
  store?: TaskBackend;
  /** One file for all calls. */
  path?: string;
  durability?: "normal" | "full";
  /** `root`: only tasks of the caller's own root are seen. @default "store" */
  visibility?: "store" | "root";
  /** Longest wait of any call, in milliseconds. @default 600_000 */
  maxWaitMs?: number;
  clock?: Clock;
  /** Exports are written through it. @default one per directory */
  workspace?: Workspace;
  board?: {
    /** Milliseconds. @default 600_000 */
    leaseMs?: number;
    /** @default 3 */
    maxAttempts?: number;
    /** Most tasks that wait on the board. @default 10_000 */
    maxPending?: number;
  };
  retention?: { days?: number; keep?: number };
}

/** What a dispatcher and a host do with the store of a family. */
export interface TasksApi {
  readonly clock: Clock;
  readonly maxWaitMs: number;
  readonly visibility: "store" | "root";
  /** The store of a directory; opened by its first method. */
  backend(directory: string): TaskBackend;
  /** Who is calling. @throws ToolError `denied` for a wrong or outdated token */
  caller(context: ToolContext): Promise<Caller>;
  /** A dispatcher tells which agents it can run, so that a retry of one that is gone is refused. */
  knowAgents(knows: (agent: string) => Promise<boolean>): Disposable;
}

export interface Tasks extends Family {
  readonly name: "tasks";
  readonly api: TasksApi;
}
