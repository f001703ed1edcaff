import type { EventKind } from "../../model.ts";
import { cancelGraceOf, dueOf, isHeld, type TaskRecord } from "../../record.ts";
import { applyEdge } from "./apply.ts";
import { openApproval } from "./approvals.ts";
import type { WriteJob } from "./file.ts";
import { limitSql, readRows, updateTask } from "./rows.ts";

/** Whether time has done something that no row shows yet. */
export function isAnythingDue(db: WriteJob["db"], now: number): boolean {
  return db.get("SELECT 1 FROM task WHERE due_at <= ? LIMIT 1", [now]) !== undefined;
}

/** Before an edge or a claim: the rows as they truly are. */
export function catchUp(write: WriteJob, limit: number): void {
  if (write.caughtUp) return;
  if (isAnythingDue(write.db, write.now)) moveDue(write, limit);
  else write.caughtUp = true;
}

/** Moves up to `limit` tasks on as time has decided; gives what happened. */
export function moveDue(write: WriteJob, limit: number): { taskId: string; event: EventKind }[] {
  const rows = readRows(write.db, `task t WHERE t.due_at <= ? ORDER BY t.due_at, t.seq ${limitSql(limit)}`, [
    write.now,
  ]);
  return rows.flatMap((row) => {
    const event = moveOne(write, row);
    return event === undefined ? [] : [{ taskId: row.id, event }];
  });
}

function moveOne(write: WriteJob, row: TaskRecord): EventKind | undefined {
  const { now } = write;
  const key = (what: string) => `${what}:${row.last_seq + 1}`;
  const leaseOver = row.lease_until !== null && row.lease_until <= now;
  if (isHeld(row)) {
    if (row.cancel_at !== null && (leaseOver || row.cancel_at + cancelGraceOf(row) <= now)) {
      const { by, reason } = JSON.parse(row.cancel_json ?? "{}");
      return done(applyEdge(write, row.id, { kind: "cancel", key: key("cancel"), by, reason }));
    }
    return done(applyEdge(write, row.id, { kind: "lose", key: key("lose") }));
  }
  if (row.state === "waiting" && row.wait_until !== null && row.wait_until <= now) {
    const approval = openApproval(write.db, row.seq);
    if (approval !== undefined) {
      const decision = approval.onExpire === "allow" ? "approved" : "rejected";
      return done(
        applyEdge(write, row.id, {
          kind: "decide",
          key: key("expiry"),
          approvalId: approval.id,
          decision,
          by: "expiry",
        }),
      );
    }
  }
  if (row.attached === 1 && leaseOver) {
    // The run that waited is gone; the task itself waits on, for whoever comes.
    const detached = {
      ...row,
      attached: 0,
      lease_until: null,
      token_hash: null,
      claimed_agent: null,
      claimed_session: null,
    };
    updateTask(write.db, row, {
      attached: 0,
      lease_until: null,
      token_hash: null,
      claimed_agent: null,
      claimed_session: null,
      due_at: dueOf(detached),
    });
    return undefined;
  }
  if (row.state === "queued") return done(applyEdge(write, row.id, { kind: "expire", key: key("expire") }));
  return undefined;
}

function done(applied: ReturnType<typeof applyEdge>): EventKind | undefined {
  return applied.ok ? applied.event.kind : undefined;
}
