import type { Edge } from "./edges.ts";
import { ending } from "./endings.ts";
import type { Approval } from "./model.ts";
import { defaultLimits, endOf, limitsOf, type TaskRecord } from "./record.ts";
import { type Decision, freed, move, note, type Transition } from "./step.ts";

/** Into `waiting`; the claim stays with a run that waits, and ends otherwise. */
export function wait(
  kind: "ask" | "hold",
  row: TaskRecord,
  now: number,
  attached: boolean,
  expiresMs: number | undefined,
  key: string,
): Transition {
  const limit = expiresMs ?? limitsOf(row).approvalMs ?? defaultLimits.approvalMs;
  const changes: Partial<TaskRecord> = { wait_until: now + limit, ...(attached ? { attached: 1 } : freed) };
  if (kind === "ask") changes.attempt_open = 1;
  return {
    ...move(kind, "waiting", { key, expiresAt: new Date(now + limit).toISOString() }, changes),
    frees: !attached,
  };
}

/** One decision on the open approval of a waiting task: by an approver in time, or by its expiry. */
export function decideApproval(
  row: TaskRecord,
  edge: Extract<Edge, { kind: "decide" }>,
  around: { now: number; approval?: Approval | undefined },
): Decision {
  const { approval, now } = around;
  if (approval === undefined || approval.state !== "open") return { refused: "wrong_state" };
  const late = Date.parse(approval.expiresAt) <= now;
  const expired = edge.by === "expiry";
  if (late !== expired) return { refused: "wrong_state" };
  const event = expired ? "expired" : edge.decision;
  const allowed = edge.decision === "approved";
  const data = { approvalId: approval.id, by: edge.by, comment: edge.comment ?? null, allowed };
  if (edge.cancel === true && event === "rejected") {
    return ending(
      "decide",
      "cancelled",
      row,
      now,
      endOf("cancelled", edge.comment ?? "rejected"),
      undefined,
      data,
      event,
    );
  }
  if (!allowed && approval.onReject === "end") {
    const end = expired
      ? endOf("approval_expired", `nobody decided on "${approval.title}" in time`)
      : endOf("approval_rejected", edge.comment ?? `"${approval.title}" was rejected`);
    return ending("decide", "failed", row, now, end, undefined, data, event);
  }
  // An attached run keeps its claim's lease: it is taken up first by the engine where it waits.
  const kept = row.attached === 1 && (row.lease_until ?? 0) > now ? {} : freed;
  const changes = {
    state: "queued",
    queued_at: now,
    wait_until: null,
    ...kept,
    ...note({ why: "approval", approvalId: approval.id }),
  } as const;
  return { ...move("decide", "queued", data, changes, event), frees: row.attached === 0 };
}
