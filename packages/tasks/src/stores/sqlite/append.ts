import { ToolError } from "@toolhaft/core";
import { noSuchTask } from "../../ids.ts";
import type { Usage } from "../../model.ts";
import { holds, type TaskRecord } from "../../record.ts";
import type { ClaimRef, NewEvent } from "../../store.ts";
import { recordUsage } from "./budget.ts";
import type { WriteJob } from "./file.ts";
import { writeNotice } from "./notices.ts";
import { readRecord, updateTask } from "./rows.ts";
import { writeEvent } from "./write-edge.ts";

/** Newest events kept of each kind and attempt. */
const keptEvents: Partial<Record<NewEvent["kind"], number>> = { progress: 500, activity: 500, checkpoint: 100 };

/** Notes an event of a live claim, inside a write; gives its seq. */
export function appendEvent(write: WriteJob, id: string, ref: ClaimRef, entry: NewEvent): number {
  const { db, now } = write;
  const row = readRecord(db, id);
  if (row === undefined) throw noSuchTask();
  if (ref.taskId !== id || !holds(row, ref.fence, now)) {
    throw new ToolError("conflict", `the claim ${ref.fence} of this task is over; nothing was recorded`, {
      hint: "stop working on it: it goes on elsewhere, or has ended",
      retryable: false,
      details: { why: "stale", state: row.state, fence: row.fence },
    });
  }
  const known = db.get<{ seq: number }>("SELECT seq FROM happened WHERE task = ? AND key = ?", [row.seq, entry.key]);
  if (known !== undefined && entry.kind !== "usage") return known.seq;
  const changes: Partial<TaskRecord> = {};
  if (entry.activity ?? (entry.kind !== "budget_warning" && entry.kind !== "transcript")) changes.activity_at = now;
  if (entry.sessionId !== undefined) changes.session_id = entry.sessionId;
  if ("handle" in entry) changes.handle_json = JSON.stringify(entry.handle ?? null);
  // A usage entry is known by what it counts, not by the report that brought it.
  if (entry.kind === "usage")
    changes.usage_json = recordUsage(db, row, entry.key, (entry.data as { total: Usage }).total, entry.step);
  if (known !== undefined) {
    db.run("UPDATE event SET data = ?, at = ? WHERE task = ? AND seq = ?", [
      JSON.stringify(entry.data),
      now,
      row.seq,
      known.seq,
    ]);
    updateTask(db, row, changes);
    write.hint({ taskId: id, kind: entry.kind });
    return known.seq;
  }
  const seq = row.last_seq + 1;
  updateTask(db, row, { ...changes, last_seq: seq });
  writeEvent(write, row, seq, entry.kind, entry.key, entry.data);
  const { notice } = entry;
  if (notice !== undefined)
    writeNotice(write, row, {
      kind: notice.kind,
      to: row.owner,
      n: notice.n ?? 0,
      ...(notice.wake !== undefined && { wake: notice.wake }),
    });
  const most = keptEvents[entry.kind];
  if (most !== undefined && seq > most) trim(db, row, entry.kind, most);
  return seq;
}

/** The kind stands in the text of the statement, so that the partial index over these kinds serves it. */
function trim(db: WriteJob["db"], row: TaskRecord, kind: NewEvent["kind"], most: number): void {
  const mine = `task = ? AND attempt = ? AND kind = '${kind}'`;
  db.run(
    `DELETE FROM event WHERE ${mine} AND seq <= (SELECT seq FROM event WHERE ${mine} ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
    [row.seq, row.attempt, row.seq, row.attempt, most],
  );
}
