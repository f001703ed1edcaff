import { hash, randomUUID } from "node:crypto";
import type { SqlValue } from "@toolhaft/sqlite";
import type { ApprovalDecision, TaskEnd } from "../../model.ts";
import { limitsOf, type ResumeNote, type TaskRecord } from "../../record.ts";
import type { Claim, ClaimQuery, Resume, TaskTerms } from "../../store.ts";
import { claimed } from "../../transition.ts";
import { applyEdge, isSessionUsed, taskOf } from "./apply.ts";
import { readApproval } from "./approvals.ts";
import { reserve } from "./budget.ts";
import { type Caps, countCaps, defaultLanes } from "./caps.ts";
import { catchUp } from "./due.ts";
import type { WriteJob } from "./file.ts";
import {
  type EventRow,
  kindSql,
  limitSql,
  parsed,
  placeOf,
  readRow,
  readRows,
  type StoredRow,
  toEvent,
} from "./rows.ts";
import { writeEdge } from "./write-edge.ts";

/** Candidates read at a time. */
const pageSize = 64;

export function hashToken(token: string): string {
  return hash("sha256", token, "base64url");
}

/** Claims up to `n` tasks, inside a write: what is lost is given back first, then priority, then age. */
export function claimTasks(write: WriteJob, query: ClaimQuery): Claim[] {
  const { db, now } = write;
  // Rows of leases that are over stand here as queued, so that they take their place in the order.
  while (!write.caughtUp) catchUp(write, 500);
  const caps = query.kind === "dispatch" ? countCaps(db, query.lanes ?? defaultLanes) : undefined;
  const claims: Claim[] = [];
  const wanted = query.n ?? 1;
  let after: StoredRow | undefined;
  while (claims.length < wanted) {
    const page = candidates(
      write,
      query,
      caps?.fullLanes() ?? [],
      after,
      // The first are mostly the ones: only where lanes or budgets pass over them more are read.
      after === undefined ? Math.min(pageSize, wanted) : pageSize,
    );
    for (const row of page) {
      if (claims.length >= wanted) break;
      const claim = claimOne(write, query, row, caps, now);
      if (claim !== undefined) claims.push(claim);
    }
    after = page.at(-1);
    if (after === undefined || query.taskId !== undefined) break;
  }
  return claims;
}

function candidates(
  { db, now }: WriteJob,
  query: ClaimQuery,
  fullLanes: readonly string[],
  after: StoredRow | undefined,
  limit: number,
): StoredRow[] {
  const where = ["state = 'queued'", `kind = ${kindSql(query.kind)}`];
  const values: SqlValue[] = [];
  const add = (condition: string, ...more: SqlValue[]) => {
    where.push(condition);
    values.push(...more);
  };
  if (query.taskId !== undefined) add("id = ?", query.taskId);
  add("(not_before IS NULL OR not_before <= ?)", now);
  if (query.minPriority !== undefined) add("priority >= ?", query.minPriority);
  if (query.rootSession !== undefined) add("root = ?", query.rootSession);
  if (query.kind === "board") add("(assignee IS NULL OR assignee = ?)", query.by.agent);
  if (query.agents !== undefined) add(`agent IN (${query.agents.map(() => "?").join(", ")})`, ...query.agents);
  // A run that waits for its slot is taken up by the engine where it waits.
  add("(attached = 0 OR engine = ?)", query.engine ?? "");
  if (fullLanes.length > 0)
    add(
      `(slot_of IS NOT NULL OR attached = 1 OR lane IS NULL OR lane NOT IN (${fullLanes.map(() => "?").join(", ")}))`,
      ...fullLanes,
    );
  if (after !== undefined)
    add("(priority < ? OR (priority = ? AND seq > ?))", after.priority, after.priority, after.seq);
  const table = query.taskId === undefined ? "task t INDEXED BY task_queue" : "task t";
  const condition = `${table} WHERE ${where.join(" AND ")} ORDER BY priority DESC, seq ${limitSql(limit)}`;
  if (limit > 1) return readRows(db, condition, values);
  const first = readRow(db, condition, values);
  return first === undefined ? [] : [first];
}

function claimOne(
  write: WriteJob,
  query: ClaimQuery,
  row: StoredRow,
  caps: Caps | undefined,
  now: number,
): Claim | undefined {
  const { db } = write;
  if (caps?.admits(row) === false) return undefined;
  if (row.session_id !== null && isSessionUsed(db, row.session_id, row.seq)) return undefined;
  const budget =
    row.kind === "dispatch"
      ? reserve(db, row, query.step, row.attempt_open === 0 || row.claimed_at === null)
      : { outcome: "none" as const };
  if (budget.outcome === "wait") return undefined;
  if (budget.outcome === "exceed") {
    const message = `the budget of ${budget.measure} above this task is used up`;
    applyEdge(write, row.id, { kind: "exceed", key: `exceed:${row.last_seq + 1}`, message });
    return undefined;
  }
  const own = query.ownLease === true ? limitsOf(row).leaseMs : undefined;
  const token = randomUUID();
  const claiming = {
    by: query.by,
    engine: query.engine ?? null,
    tokenHash: hashToken(token),
    leaseMs: own ?? query.leaseMs,
  };
  const decision = claimed(row, claiming, now);
  if (budget.outcome === "reserved") decision.changes.reserved = 1;
  const written = writeEdge(write, row, decision, `claim:${row.fence + 1}`);
  const { row: held } = written;
  caps?.add(held);
  return {
    taskId: held.id,
    fence: held.fence,
    task: taskOf(written),
    token,
    leaseUntil: new Date(held.lease_until ?? now).toISOString(),
    resume: resumeOf(write, row),
    reserved: budget.outcome === "reserved" ? budget.granted : null,
    terms: termsOf(write.db, held),
  };
}

export function termsOf(db: WriteJob["db"], row: TaskRecord): TaskTerms {
  const limits =
    row.kind === "board"
      ? undefined
      : db.get<{ limits_json: string | null }>("SELECT limits_json FROM budget WHERE scope = ?", [`task:${row.id}`]);
  return {
    limits: limitsOf(row),
    budget: limits?.limits_json == null ? null : parsed(limits.limits_json),
    onLost: row.on_lost,
    allowEmptyOutput: row.allow_empty === 1,
    engine: row.engine,
    handle: row.handle_json === null ? null : parsed<unknown>(row.handle_json),
  };
}

/** What the run goes on with, from the row as it was before the claim. */
function resumeOf({ db }: WriteJob, row: TaskRecord): Resume | null {
  if (row.resume_json === null) return null;
  const note = parsed<ResumeNote>(row.resume_json);
  const latest = (kind: string) =>
    db.get<EventRow>(
      "SELECT seq, attempt, at, kind, data FROM happened WHERE task = ? AND kind = ? ORDER BY seq DESC LIMIT 1",
      [row.seq, kind],
    );
  const checkpoint = latest("checkpoint");
  const transcript = latest("transcript");
  const previous = db.get<{ attempt: number; end_json: string }>(
    "SELECT attempt, end_json FROM attempt WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT 1",
    [placeOf(row.seq, 0), placeOf(row.seq, 65_535)],
  );
  return {
    why: note.why,
    session: row.session_id,
    transcript: transcript === undefined ? null : String(parsed<{ text?: string }>(transcript.data).text ?? ""),
    checkpoint: checkpoint === undefined ? null : toEvent(row.id, checkpoint),
    modifyPrompt: note.modifyPrompt ?? null,
    decision: note.approvalId === undefined ? null : decisionOf(db, note.approvalId),
    attached: row.attached === 1,
    handle: row.handle_json === null ? null : parsed<unknown>(row.handle_json),
    previous: previous === undefined ? null : { attempt: previous.attempt, end: parsed<TaskEnd>(previous.end_json) },
  };
}

function decisionOf(db: WriteJob["db"], id: string): ApprovalDecision | null {
  const approval = readApproval(db, id);
  if (approval === undefined || approval.state === "open") return null;
  const { state, onExpire } = approval;
  return {
    approvalId: id,
    key: approval.key,
    decision: state,
    allowed: state === "approved" || (state === "expired" && onExpire === "allow"),
    by: approval.decidedBy ?? "expiry",
    comment: approval.comment,
  };
}
