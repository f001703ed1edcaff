import { hash } from "node:crypto";
import type { ApprovalDecision, BudgetLimits, Claim, ClaimQuery, Resume, TaskEnd, TaskTerms } from "@toolhaft/tasks";
import {
  claimed,
  type EventRow,
  limitsOf,
  parsed,
  type ResumeNote,
  type TaskRecord,
  type TaskRow,
  toEvent,
} from "@toolhaft/tasks/adapter";
import type { Sql, SqlValue, Transaction } from "../database.ts";
import { applyEdge, isSessionUsed, taskOf } from "./apply.ts";
import { readApproval } from "./approvals.ts";
import { reserve } from "./budget.ts";
import { type Caps, countCaps, defaultLanes, lockCaps } from "./caps.ts";
import { isAnythingDue, moveDue } from "./due.ts";
import { readRows } from "./rows.ts";
import { type Written, writeEdge } from "./write-edge.ts";
import type { WriteJob } from "./write-job.ts";

/** Candidates read at a time. */
const pageSize = 64;

export function hashToken(token: string): string {
  return hash("sha256", token, "base64url");
}

/** What one call of `claim` asks for: its tokens are made before, so that a claim whose reply was lost is found again. */
export interface Wanted {
  query: ClaimQuery;
  tokens: readonly string[];
}

/** Claims up to `n` tasks, inside a transaction: what is lost is given back first, then priority, then age. */
export async function claimTasks(write: WriteJob, { query, tokens }: Wanted, again: boolean): Promise<Claim[]> {
  const { db } = write;
  const dispatch = query.kind === "dispatch";
  if (dispatch) await lockCaps(db);
  // Rows of leases that are over stand here as queued, so that they take their place in the order.
  while ((await isAnythingDue(db)) && (await moveDue(write, 500)).length > 0);
  const claims = again ? await claimedBefore(write, tokens) : [];
  const left = [...tokens].slice(claims.length);
  const caps = dispatch ? await countCaps(db, query.lanes ?? defaultLanes) : undefined;
  await take(true);
  // What somebody else holds just now, to index it or to look at it, may be free after all.
  if (claims.length === 0) await take(false);
  return claims;

  async function take(skipLocked: boolean): Promise<void> {
    let after: TaskRow | undefined;
    while (left.length > 0) {
      const size = Math.min(pageSize, caps === undefined ? left.length : pageSize);
      const page = await candidates(write, query, caps?.fullLanes() ?? [], after, size, skipLocked);
      for (const row of page) {
        const [token] = left;
        if (token === undefined) break;
        const claim = await claimOne(write, query, row, caps, token);
        if (claim === undefined) continue;
        claims.push(claim);
        left.shift();
      }
      after = page.at(-1);
      if (after === undefined || query.taskId !== undefined) return;
    }
  }
}

/** Claims that were made although the reply never came. */
async function claimedBefore(write: WriteJob, tokens: readonly string[]): Promise<Claim[]> {
  const found: Claim[] = [];
  for (const token of tokens) {
    const [row] = await readRows(write.db, "@task t WHERE t.token_hash = ? AND t.lease_until > ?", [
      hashToken(token),
      write.db.now,
    ]);
    if (row !== undefined) found.push(await claimFrom(write, row, { row, result: null }, token, null));
  }
  return found;
}

async function candidates(
  { db }: WriteJob,
  query: ClaimQuery,
  fullLanes: readonly string[],
  after: TaskRow | undefined,
  limit: number,
  skipLocked: boolean,
): Promise<TaskRow[]> {
  const { where, values } = claimable(query, db.now);
  const add = (condition: string, ...more: SqlValue[]) => {
    where.push(condition);
    values.push(...more);
  };
  if (fullLanes.length > 0)
    add("(t.slot_of IS NOT NULL OR t.attached = 1 OR t.lane IS NULL OR t.lane <> ALL(?::text[]))", fullLanes);
  if (after !== undefined)
    add("(t.priority < ? OR (t.priority = ? AND t.seq > ?))", after.priority, after.priority, after.seq);
  return readRows(
    db,
    `@task t WHERE ${where.join(" AND ")} ORDER BY t.priority DESC, t.seq LIMIT ? FOR UPDATE${skipLocked ? " SKIP LOCKED" : ""}`,
    [...values, limit],
  );
}

/** Which rows a query may have, apart from caps and budgets. */
export function claimable(query: ClaimQuery, now: number): { where: string[]; values: SqlValue[] } {
  const where = ["t.state = 'queued'", "t.kind = ?"];
  const values: SqlValue[] = [query.kind];
  const add = (condition: string, ...more: SqlValue[]) => {
    where.push(condition);
    values.push(...more);
  };
  if (query.taskId !== undefined) add("t.id = ?", query.taskId);
  add("(t.not_before IS NULL OR t.not_before <= ?)", now);
  if (query.minPriority !== undefined) add("t.priority >= ?", query.minPriority);
  if (query.rootSession !== undefined) add("t.root = ?", query.rootSession);
  if (query.kind === "board") add("(t.assignee IS NULL OR t.assignee = ?)", query.by.agent);
  if (query.agents !== undefined) add("t.agent = ANY(?::text[])", query.agents);
  // A run that waits for its slot is taken up by the engine where it waits.
  add("(t.attached = 0 OR t.engine = ?)", query.engine ?? "");
  return { where, values };
}

async function claimOne(
  write: WriteJob,
  query: ClaimQuery,
  row: TaskRow,
  caps: Caps | undefined,
  token: string,
): Promise<Claim | undefined> {
  const { db } = write;
  const { now } = db;
  if (caps?.admits(row) === false) return undefined;
  if (row.session_id !== null && (await isSessionUsed(db, row.session_id, row.seq))) return undefined;
  const budget =
    row.kind === "dispatch"
      ? await reserve(db, row, query.step, row.attempt_open === 0 || row.claimed_at === null)
      : { outcome: "none" as const };
  if (budget.outcome === "wait") return undefined;
  if (budget.outcome === "exceed") {
    const message = `the budget of ${budget.measure} above this task is used up`;
    await applyEdge(write, row.id, { kind: "exceed", key: `exceed:${row.last_seq + 1}`, message });
    return undefined;
  }
  const own = query.ownLease === true ? limitsOf(row).leaseMs : undefined;
  const claiming = {
    by: query.by,
    engine: query.engine ?? null,
    tokenHash: hashToken(token),
    leaseMs: own ?? query.leaseMs,
  };
  const decision = claimed(row, claiming, now);
  if (budget.outcome === "reserved") decision.changes.reserved = 1;
  const written = await writeEdge(write, row, decision, `claim:${row.fence + 1}`);
  caps?.add(written.row);
  return claimFrom(write, row, written, token, budget.outcome === "reserved" ? budget.granted : null);
}

/** @param before The row as it was before the claim */
export async function claimFrom(
  write: WriteJob,
  before: TaskRow,
  written: Pick<Written<TaskRow>, "row" | "result">,
  token: string,
  reserved: BudgetLimits | null,
): Promise<Claim> {
  const { row: held } = written;
  return {
    taskId: held.id,
    fence: held.fence,
    task: taskOf(written),
    token,
    leaseUntil: new Date(held.lease_until ?? write.db.now).toISOString(),
    resume: await resumeOf(write, before),
    reserved,
    terms: await termsOf(write.db, held),
  };
}

export async function termsOf(db: Sql, row: TaskRecord): Promise<TaskTerms> {
  const limits =
    row.kind === "board"
      ? undefined
      : await db.get<{ limits_json: string | null }>("SELECT limits_json FROM @budget WHERE scope = ?", [
          `task:${row.id}`,
        ]);
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
async function resumeOf({ db }: WriteJob, row: TaskRecord): Promise<Resume | null> {
  if (row.resume_json === null) return null;
  const note = parsed<ResumeNote>(row.resume_json);
  const latest = (kind: string) =>
    db.get<EventRow>(
      "SELECT seq, attempt, at, kind, data FROM @event WHERE task = ? AND kind = ? ORDER BY seq DESC LIMIT 1",
      [row.seq, kind],
    );
  const checkpoint = await latest("checkpoint");
  const transcript = await latest("transcript");
  const previous = await db.get<{ attempt: number; end_json: string }>(
    "SELECT attempt, end_json FROM @attempt WHERE task = ? ORDER BY attempt DESC LIMIT 1",
    [row.seq],
  );
  return {
    why: note.why,
    session: row.session_id,
    transcript: transcript === undefined ? null : String(parsed<{ text?: string }>(transcript.data).text ?? ""),
    checkpoint: checkpoint === undefined ? null : toEvent(row.id, checkpoint),
    modifyPrompt: note.modifyPrompt ?? null,
    decision: note.approvalId === undefined ? null : await decisionOf(db, note.approvalId),
    attached: row.attached === 1,
    handle: row.handle_json === null ? null : parsed<unknown>(row.handle_json),
    previous: previous === undefined ? null : { attempt: previous.attempt, end: parsed<TaskEnd>(previous.end_json) },
  };
}

async function decisionOf(db: Transaction, id: string): Promise<ApprovalDecision | null> {
  const approval = await readApproval(db, id);
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
