import type { Clock } from "./clock.ts";
import type { Policy } from "./policy/types.ts";

/** What a tool asks before an effect: which permission, on which resolved resources, and why. */
export interface PermissionRequest {
  permission: string;
  resources: readonly string[];
  reason: string;
  details?: Readonly<Record<string, unknown>>;
  /** Rules that a person may accept for good, as text for `parseRule`. */
  always?: readonly string[];
  /** The answer is never remembered. */
  fresh?: true;
}

/** The gate: resolves when the effect may happen, rejects with `ToolError("denied")` when not. */
export type Ask = (request: PermissionRequest) => Promise<void>;

export interface ProgressUpdate {
  message?: string;
  progress?: number;
  total?: number;
  data?: unknown;
}

/** Everything a tool may know of the call it serves. */
export interface ToolContext {
  readonly sessionId: string;
  readonly messageId?: string;
  readonly callId: string;
  readonly agent: string;
  /** Set when a dispatched sub-agent makes the call. */
  readonly task?: { id: string; token: string };
  /** Where relative paths start: an absolute path. */
  readonly directory: string;
  readonly worktree: string;
  /** All workspace folders; `directory` is the first. */
  readonly roots: readonly string[];
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The host's word for where a call comes from (channel, account, sender); never set by a tool. */
  readonly origin?: Readonly<Record<string, string>>;
  /** The name under which the host knows the tool that is called `original` here. */
  toolName(original: string): string;
  progress(update: ProgressUpdate): void;
  ask: Ask;
  /** Looks at the policy without asking anybody. */
  permits(permission: string, resource: string): "allow" | "ask" | "deny";
}

export type Decision = { allow: true; remember?: "session" } | { allow: false; feedback?: string };

/** Puts a question to a person; the host brings it. */
export type Asker = (
  request: PermissionRequest & {
    tool: string;
    callId: string;
    sessionId: string;
    agent: string;
    signal: AbortSignal;
  },
) => Promise<Decision>;

/** What a caller may set; the rest gets stand-alone defaults. A whole `ToolContext` brings its gate along. */
export type ContextInit = Partial<Omit<ToolContext, "ask" | "permits">> & {
  policy?: Policy;
  asker?: Asker;
  /** How long a person may take to answer, in milliseconds. @default 600_000 */
  askTimeoutMs?: number;
};
