/** Tokens of one answer or of a sum of answers. Input counts uncached tokens only; reasoning is a part of output. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

/** One session as a list shows it. Times are ISO 8601 UTC. */
export interface Summary {
  /** The host's own id, whole. */
  id: string;
  source: string;
  title: string;
  directory: string | null;
  branch: string | null;
  createdAt: string;
  updatedAt: string;
  durationMs: number;
  messages: number;
  prompts: number;
  parent: { id: string; kind: "fork" | "subagent" | "resume"; at: string | null } | null;
  children: number;
  archived: boolean;
  bytes: number | null;
  models: string[];
  warnings: number;
}

export type MessageKind = "prompt" | "answer" | "injected" | "command" | "compaction" | "notice";

export interface Message {
  id: string;
  /** 0-based place in the session's reading order. */
  index: number;
  role: string;
  kind: MessageKind;
  at: string | null;
  parentId: string | null;
  /** `main`, or `b1`, `b2` … in the order of their first own message. */
  branch: string;
  model: string | null;
  provider: string | null;
  usage: Usage | null;
  costUsd: number | null;
  /** Copied from a parent session by fork, resume or replay. */
  inherited: boolean;
  reverted: boolean;
  parts: Part[];
}

export interface Part {
  kind: "text" | "thinking" | "tool" | "file" | "other";
  text: string | null;
  /** Length of the whole text in code points. */
  chars: number;
  truncated: boolean;
  tool: ToolCall | null;
  file: { name: string | null; mime: string; bytes: number } | null;
}

export type ToolStatus = "completed" | "error" | "denied" | "running" | "no_result";

export interface ToolCall {
  name: string;
  callId: string;
  status: ToolStatus;
  /** JSON as the host wrote it. */
  input: string;
  output: string | null;
  outputChars: number;
  exitCode: number | null;
  durationMs: number | null;
}

export interface Todo {
  text: string;
  status: "pending" | "in_progress" | "completed" | "cancelled";
  priority: string | null;
}

export const problemCodes = [
  "malformed_line",
  "glued_objects",
  "not_an_object",
  "invalid_utf8",
  "oversize_line",
  "partial_tail",
  "broken_parent",
  "orphan_result",
  "missing_result",
  "unknown_record",
  "damaged_part",
  "estimated_usage",
] as const;
export type ProblemCode = (typeof problemCodes)[number];

/** One kind of damage in a transcript: how often, and where first. `line` is 1-based, `offset` in bytes. */
export interface Problem {
  code: ProblemCode;
  count: number;
  first: { file: string; line: number; offset: number };
}

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  };
}
