import type { Approval, ApprovalDecision, TaskStore } from "@toolhaft/tasks";

/** The decision on a question of one attempt; nothing while it is open or was never put. */
export async function decisionOn(
  store: TaskStore,
  { taskId, attempt }: { taskId: string; attempt: number },
  key: string,
): Promise<ApprovalDecision | undefined> {
  const asked = await store.approvals({ taskId });
  const known = asked.find((one) => one.attempt === attempt && one.key === key);
  return known === undefined || known.state === "open" ? undefined : decisionOf(known);
}

function decisionOf(approval: Approval): ApprovalDecision {
  const { id, key, state, decidedBy, comment, onExpire } = approval;
  const decision = state === "open" ? "expired" : state;
  return {
    approvalId: id,
    key,
    decision,
    allowed: decision === "approved" || (decision === "expired" && onExpire === "allow"),
    by: decidedBy ?? "expiry",
    comment,
  };
}
