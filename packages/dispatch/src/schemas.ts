import { taskRowSchema } from "@toolhaft/tasks";
import { z } from "zod";

/** Lengths are code points, which zod does not count: they are declared here and checked where the text is used. */
export function text(description: string, most: number) {
  return z.string().meta({ description, minLength: 1, maxLength: most });
}

export const taskIdInput = z.string().meta({ description: "Task id." });
export const waitInput = z.number().int().min(0).max(600_000).default(0).describe("Wait for news.");
export const cursorInput = z.string().optional().describe("Next page.");

const deciderSchema = z.union([
  z.string(),
  z.object({ agent: z.string().optional(), sessionId: z.string().optional(), human: z.string().optional() }),
]);

export const approvalSchema = z.object({
  id: z.string(),
  taskId: z.string(),
  attempt: z.number().int(),
  kind: z.enum(["launch", "tool", "stale_resume"]),
  key: z.string(),
  agent: z.string(),
  title: z.string(),
  detail: z.unknown(),
  approvers: z.union([z.string(), z.array(z.string()).readonly()]),
  state: z.enum(["open", "approved", "rejected", "expired"]),
  onExpire: z.enum(["reject", "allow"]),
  onReject: z.enum(["resume", "end"]),
  attached: z.boolean(),
  requestedAt: z.string(),
  expiresAt: z.string(),
  decidedAt: z.string().nullable(),
  decidedBy: deciderSchema.nullable(),
  comment: z.string().nullable(),
});

export const remainingSchema = z.object({
  running: z.number().int(),
  queued: z.number().int(),
  waiting: z.number().int(),
});

export const noticeSchema = z.object({
  id: z.string(),
  to: z.string(),
  kind: z.enum(["completed", "failed", "timeout", "cancelled", "budget", "approval", "progress", "task_posted"]),
  taskId: z.string(),
  attempt: z.number().int(),
  remaining: remainingSchema,
  allSettled: z.boolean(),
  wake: z.boolean(),
  text: z.string(),
  data: taskRowSchema,
});

export const statusSchema = z.enum([
  "pending",
  "running",
  "awaiting_approval",
  "completed",
  "error",
  "cancelled",
  "timeout",
]);

export const readOnly = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
export const writing = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
} as const;
