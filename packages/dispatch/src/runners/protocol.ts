import type { Usage } from "@toolhaft/tasks";
import type { RunRequest } from "../runner.ts";

/** What the output of an agent program tells. */
export interface AgentReport {
  session(id: string): void;
  /** Words of the answer or on the way to it. */
  text(text: string): void;
  tool(text: string): void;
  /** Not a sign of life: warnings, keep-alives, "reconnecting". */
  status(text: string): void;
  usage(key: string, total: Usage): void;
  /** The final answer; a later one replaces it. */
  answer(text: string): void;
  /** The run has failed, whatever the exit code says. */
  failed(message: string): void;
  /** From here on, this many milliseconds without a line are a failure; `null` takes it back. */
  endWhenSilent(ms: number | null, message: string): void;
}

export interface AgentStream {
  /** One line of stdout. `false`: no event of this protocol. */
  line(line: string): boolean;
  /** stdout is closed. */
  end?(): void;
}

/** How one agent program speaks on stdout. */
export type AgentProtocol = (request: RunRequest, report: AgentReport) => AgentStream;

type Fields = Readonly<Record<string, unknown>>;

/** A line as a JSON object; anything else is none. */
export function eventOf(line: string): Fields | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return fields(JSON.parse(line));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function fields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function list(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fields).filter((one) => one !== undefined) : [];
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A count of tokens; what is missing or no count is 0. */
export function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

export function amount(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

export interface TokenCounts {
  input: number;
  output: number;
  reasoning?: number | null;
  cacheRead?: number;
  cacheWrite?: number;
  costUsd?: number | null;
}

export function usageOf(counts: TokenCounts): Usage {
  return {
    inputTokens: counts.input,
    outputTokens: counts.output,
    reasoningTokens: counts.reasoning ?? null,
    cacheReadTokens: counts.cacheRead ?? 0,
    cacheWriteTokens: counts.cacheWrite ?? 0,
    costUsd: counts.costUsd ?? null,
    complete: true,
  };
}

/** What a message of any shape says. */
export function messageIn(value: unknown): string {
  const inner = fields(value);
  return (
    text(value) ??
    text(inner?.message) ??
    text(fields(inner?.data)?.message) ??
    text(fields(inner?.error)?.message) ??
    text(inner?.name) ??
    JSON.stringify(value) ??
    "no message"
  );
}
