import type { ToolContext } from "../context.ts";
import type { AnyTool, ToolResult } from "../tool.ts";

/** One call on its way to a tool: plain data, so a middleware passes on a copy with what it changed. */
export interface ToolCall {
  readonly tool: AnyTool;
  /** What the model sent, unchecked. */
  readonly raw: unknown;
  readonly context: ToolContext;
  /** Run with the parsed input after the policy and before `execute`; one that throws stops the call. */
  readonly before?: readonly ((input: unknown) => Promise<void>)[];
  /** How long core waits after an abort for the tool to settle, in milliseconds. @default 2_000 */
  readonly graceMs?: number;
}

export type Next = (call: ToolCall) => Promise<ToolResult>;

/** Around a call. The first in `wrap(a, b)` is outermost. */
export type Middleware = (call: ToolCall, next: Next) => Promise<ToolResult>;
