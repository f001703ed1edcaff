import { z } from "zod";
import { problemCodes } from "./model.ts";

export const usageSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  reasoningTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
});

export const summarySchema = z.object({
  id: z.string(),
  source: z.string(),
  title: z.string(),
  directory: z.string().nullable(),
  branch: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  durationMs: z.number(),
  messages: z.number(),
  prompts: z.number(),
  parent: z
    .object({ id: z.string(), kind: z.enum(["fork", "subagent", "resume"]), at: z.string().nullable() })
    .nullable(),
  children: z.number(),
  archived: z.boolean(),
  bytes: z.number().nullable(),
  models: z.array(z.string()),
  warnings: z.number(),
});

export const todoSchema = z.object({
  text: z.string(),
  status: z.enum(["pending", "in_progress", "completed", "cancelled"]),
  priority: z.string().nullable(),
});

export const problemSchema = z.object({
  code: z.enum(problemCodes),
  count: z.number(),
  first: z.object({ file: z.string(), line: z.number(), offset: z.number() }),
});

export const indexSchema = z.object({ upToDate: z.boolean(), pendingFiles: z.number(), pendingBytes: z.number() });

export const skippedSchema = z.array(z.object({ source: z.string(), code: z.string(), message: z.string() }));

const toolCallSchema = z.object({
  name: z.string(),
  callId: z.string(),
  status: z.enum(["completed", "error", "denied", "running", "no_result"]),
  input: z.string(),
  output: z.string().nullable(),
  outputChars: z.number(),
  exitCode: z.number().nullable(),
  durationMs: z.number().nullable(),
});

const partSchema = z.object({
  kind: z.enum(["text", "thinking", "tool", "file", "other"]),
  text: z.string().nullable(),
  chars: z.number(),
  truncated: z.boolean(),
  tool: toolCallSchema.nullable(),
  file: z.object({ name: z.string().nullable(), mime: z.string(), bytes: z.number() }).nullable(),
});

export const messageSchema = z.object({
  id: z.string(),
  index: z.number(),
  role: z.string(),
  kind: z.enum(["prompt", "answer", "injected", "command", "compaction", "notice"]),
  at: z.string().nullable(),
  parentId: z.string().nullable(),
  branch: z.string(),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  usage: usageSchema.nullable(),
  costUsd: z.number().nullable(),
  inherited: z.boolean(),
  reverted: z.boolean(),
  parts: z.array(partSchema),
});

/** Parameters that several tools share. */
export const sessionId = z.string().min(1).describe("Session id.");
export const fromDate = z.string().optional().describe("ISO date or time.");
export const toDate = z.string().optional().describe("Until.");
export const projectPath = z.string().min(1).optional().describe("Another project's folder.");
export const source = z.string().min(1).optional().describe("Such as claude-code.");
export const cursor = z.string().min(1).optional().describe("Next page.");

export const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
