import { dueOf, holds } from "../../record.ts";
import type { ClaimRef } from "../../store.ts";
import type { WriteJob } from "./file.ts";
import { readRecord, updateTask } from "./rows.ts";

/** Extends one lease from now, if the claim lives. */
export function renewClaim(
  { db, now }: WriteJob,
  { taskId, fence }: ClaimRef,
  leaseMs: number,
): "ok" | "cancel_requested" | "lost" {
  const row = readRecord(db, taskId);
  if (row === undefined || !holds(row, fence, now)) return "lost";
  const lease_until = now + leaseMs;
  updateTask(db, row, { lease_until, due_at: dueOf({ ...row, lease_until }) });
  return row.cancel_json === null ? "ok" : "cancel_requested";
}
