import { z } from "zod";
import { endReasons, eventKinds, states, statuses } from "./model.ts";

export const usageSchema = z.object({
  inputTokens: z.number().nullable(),
  outputTokens: z.number().nullable(),
  reasoningTokens: z.number().nullable(),
  cacheReadTokens: z.number().nullable(),
  cacheWriteTokens: z.number().nullable(),
  costUsd: z.number().nullable(),
  complete: z.boolean(),
});

const actorSchema = z.object({ agent: z.string(), sessionId: z.string() });

export const endSchema = z.object({ reason: z.enum(endReasons), message: z.string(), retryable: z.boolean() });

/** Schema of `TaskRow`. */
export const taskRowSchema = z.object({
  id: z.string(),
  seq: z.number().int(),
  kind: z.enum(["dispatch", "board"]),
  title: z.string(),
  agent: z.string().nullable(),
  assignee: z.string().nullable(),
  createdBy: actorSchema,
  claimedBy: actorSchema.nullable(),
  leaseUntil: z.string().nullable(),
  state: z.enum(states),
  status: z.enum(statuses),
  stage: z.enum(["blocked", "queued", "starting"]).nullable(),
  mode: z.enum(["sync", "background"]).nullable(),
  priority: z.number().int(),
  lane: z.string().nullable(),
  ownerSession: z.string(),
  rootSession: z.string(),
  parentTask: z.string().nullable(),
  depth: z.number().int(),
  continues: z.string().nullable(),
  dependsOn: z.array(z.string()).readonly(),
  attempt: z.number().int(),
  maxAttempts: z.number().int(),
  fence: z.number().int(),
  cancelRequested: z.object({ by: actorSchema, reason: z.string().nullable(), at: z.string() }).nullable(),
  sessionId: z.string().nullable(),
  createdAt: z.string(),
  notBefore: z.string().nullable(),
  startedAt: z.string().nullable(),
  lastActivityAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  durationMs: z.number().nullable(),
  end: endSchema.nullable(),
  usage: usageSchema.nullable(),
  lastEventSeq: z.number().int(),
  resultChars: z.number().int().nullable(),
  resultPreview: z.string().optional(),
});

export const eventSchema = z.object({
  taskId: z.string(),
  seq: z.number().int(),
  attempt: z.number().int(),
  at: z.string(),
  kind: z.enum(eventKinds),
  data: z.record(z.string(), z.unknown()),
});

export const textWindowSchema = z.object({
  text: z.string(),
  offset: z.number().int(),
  chars: z.number().int(),
  totalChars: z.number().int(),
  nextOffset: z.number().int().nullable(),
});
