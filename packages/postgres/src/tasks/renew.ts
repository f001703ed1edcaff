import type { ClaimRef } from "@toolhaft/tasks";
import { dueOf, holds } from "@toolhaft/tasks/adapter";
import { lockRecord, updateTask } from "./rows.ts";
import type { WriteJob } from "./write-job.ts";

/** Extends one lease from now, if the claim lives. */
export async function renewClaim(
  { db }: WriteJob,
  { taskId, fence }: ClaimRef,
  leaseMs: number,
): Promise<"ok" | "cancel_requested" | "lost"> {
  const row = await lockRecord(db, taskId);
  const { now } = db;
  if (row === undefined || !holds(row, fence, now)) return "lost";
  const lease_until = now + leaseMs;
  await updateTask(db, row, { lease_until, due_at: dueOf({ ...row, lease_until }) });
  return row.cancel_json === null ? "ok" : "cancel_requested";
}
