import { processStart } from "@toolhaft/core/node";

/** One process among all that ever had its number: a pid alone is recycled. Plain data, fit for a store. */
export interface ProcessIdentity {
  pid: number;
  /** When it started, in the system's own unit; compare, do not compute. */
  start: string;
}

/** Who has this pid now, or `undefined` when nobody has. */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const start = await processStart(pid);
  return start === undefined ? undefined : { pid, start: String(start) };
}

/** Whether this very process still runs; a later process with the same pid does not count. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  const now = await identify(identity.pid);
  return now !== undefined && now.start === identity.start;
}
