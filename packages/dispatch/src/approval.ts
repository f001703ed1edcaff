import type { ApprovalDecision, ApprovalKind, Approvers, NewApproval } from "@toolhaft/tasks";

/** A question that must be answered before an effect. */
export interface ApprovalAsk {
  kind: ApprovalKind;
  /** Call id, or hash of the arguments: the same key of one attempt is put once. */
  key: string;
  taskId: string;
  attempt: number;
  agent: string;
  title: string;
  detail?: unknown;
}

export type Verdict =
  | "allow"
  | "reject"
  | {
      approvers: Approvers;
      /** Milliseconds until silence counts. @default 24 h */
      expiresMs?: number;
      /** @default "reject" */
      onExpire?: "reject" | "allow";
      /** @default "resume" */
      onReject?: "resume" | "end";
    };

/** Says who answers a question. That of the root's dispatcher holds at every depth. */
export interface ApprovalPolicy {
  decide(ask: ApprovalAsk): Promise<Verdict>;
}

/** Launches are allowed; what a subagent asks is put to a person. */
export const defaultApproval: ApprovalPolicy = {
  decide: async ({ kind }) => (kind === "launch" ? "allow" : { approvers: "human" }),
};

const nobody = "no one can approve";

/** The policy's word as the row that is stored, or the decision when none is needed. */
export async function judge(
  policy: ApprovalPolicy,
  ask: ApprovalAsk,
  interactive: boolean,
): Promise<{ decision: ApprovalDecision } | { approval: NewApproval }> {
  const verdict = await policy.decide(ask);
  if (verdict === "allow") return { decision: atOnce(ask.key, true, "allowed by the policy") };
  if (verdict === "reject") return { decision: atOnce(ask.key, false, "rejected by the policy") };
  if (!interactive && verdict.approvers === "human") return { decision: atOnce(ask.key, false, nobody) };
  return {
    approval: {
      kind: ask.kind,
      key: ask.key,
      title: ask.title,
      ...(ask.detail !== undefined && { detail: ask.detail }),
      ...verdict,
    },
  };
}

function atOnce(key: string, allowed: boolean, comment: string): ApprovalDecision {
  return {
    approvalId: "",
    key,
    decision: allowed ? "approved" : "rejected",
    allowed,
    by: { human: "policy" },
    comment,
  };
}

export function severalOpen(ids: readonly string[]): string {
  return `several questions are open: ${ids.join(", ")}; say which by approval_id`;
}
