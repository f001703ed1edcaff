import type { Applied, EventKind } from "@toolhaft/tasks";
import { cancelGraceOf, dueOf, isHeld, type TaskRecord } from "@toolhaft/tasks/adapter";
import type { Sql } from "../database.ts";
import { applyEdge } from "./apply.ts";
import { openApproval } from "./approvals.ts";
import { readRows, updateTask } from "./rows.ts";
import type { WriteJob } from "./write-job.ts";

/** Whether time has done something that no row shows yet. */
export async function isAnythingDue(db: Sql): Promise<boolean> {
  return (await db.get("SELECT 1 AS due FROM @task WHERE due_at <= @clock_ms() LIMIT 1")) !== undefined;
}

/** Moves up to `limit` tasks on as time has decided; what others move just now is left to them. */
export async function moveDue(write: WriteJob, limit: number): Promise<{ taskId: string; event: EventKind }[]> {
  const rows = await readRows(
    write.db,
    "@task t WHERE t.due_at <= ? ORDER BY t.due_at, t.seq LIMIT ? FOR UPDATE SKIP LOCKED",
    [write.db.now, limit],
  );
  const moved: { taskId: string; event: EventKind }[] = [];
  for (const row of rows) {
    const event = await moveOne(write, row);
    if (event !== undefined) moved.push({ taskId: row.id, event });
  }
  return moved;
}

/** What time has done to one row that is under its lock. */
export async function moveOne(write: WriteJob, row: TaskRecord): Promise<EventKind | undefined> {
  const { now } = write.db;
  const key = (what: string) => `${what}:${row.last_seq + 1}`;
  const leaseOver = row.lease_until !== null && row.lease_until <= now;
  if (isHeld(row)) {
    if (row.cancel_at !== null && (leaseOver || row.cancel_at + cancelGraceOf(row) <= now)) {
      const { by, reason } = JSON.parse(row.cancel_json ?? "{}");
      return done(await applyEdge(write, row.id, { kind: "cancel", key: key("cancel"), by, reason }));
    }
    return done(await applyEdge(write, row.id, { kind: "lose", key: key("lose") }));
  }
  if (row.state === "waiting" && row.wait_until !== null && row.wait_until <= now) {
    const approval = await openApproval(write.db, row.seq);
    if (approval !== undefined) {
      const decision = approval.onExpire === "allow" ? "approved" : "rejected";
      const expiry = { kind: "decide", key: key("expiry"), approvalId: approval.id, decision, by: "expiry" } as const;
      return done(await applyEdge(write, row.id, expiry));
    }
  }
  if (row.attached === 1 && leaseOver) {
    // The run that waited is gone; the task itself waits on, for whoever comes.
    const left = { attached: 0, lease_until: null, token_hash: null, claimed_agent: null, claimed_session: null };
    await updateTask(write.db, row, { ...left, due_at: dueOf({ ...row, ...left }) });
    return undefined;
  }
  if (row.state === "queued") return done(await applyEdge(write, row.id, { kind: "expire", key: key("expire") }));
  return undefined;
}

function done(applied: Applied): EventKind | undefined {
  return applied.ok ? applied.event.kind : undefined;
}
