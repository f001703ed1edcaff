import { canonicalHash } from "../canonical.ts";
import type { Asker, Decision } from "../context.ts";
import { askPerson, callerOf, refusal } from "../gate.ts";
import type { AnyTool } from "../tool.ts";
import type { Middleware } from "./types.ts";

export interface ApprovalOptions {
  asker: Asker;
  /** Which calls are asked for. @default tools that do not only read */
  when?(tool: AnyTool, input: unknown): boolean;
  /** How long a person may take, in milliseconds. @default 600_000 */
  askTimeoutMs?: number;
}

/** Answers that a call has not used up yet; the oldest go first beyond this many. */
const maxOpen = 1_000;

/**
 * Asks a person before a tool runs, once for each (call id, tool, exact input). The question comes after the input was
 * checked and repaired, so what is approved is what runs. An answer is used once: when the call has ended, the same
 * call again is a new question.
 */
export function approval(options: ApprovalOptions): Middleware {
  const { asker, when = (tool) => !tool.annotations.readOnlyHint, askTimeoutMs = 600_000 } = options;
  const open = new Map<string, Promise<Decision>>();
  return async (call, next) => {
    const { tool, context } = call;
    let used: string | undefined;
    const hook = async (input: unknown): Promise<void> => {
      if (!when(tool, input)) return;
      const key = JSON.stringify([context.sessionId, context.callId, tool.name, await canonicalHash(input)]);
      used = key;
      let answer = open.get(key);
      if (answer === undefined) {
        const request = {
          permission: "tool.call",
          resources: [tool.name],
          reason: tool.title,
          details: { input },
          fresh: true,
        } as const;
        answer = askPerson(asker, askTimeoutMs, callerOf(tool, context), request);
        for (const oldest of open.keys()) {
          if (open.size < maxOpen) break;
          open.delete(oldest);
        }
        open.set(key, answer);
      }
      const decision = await answer;
      if (!decision.allow)
        throw refusal(
          `the call of ${tool.name}`,
          { permission: "tool.call", resources: [tool.name] },
          decision.feedback,
        );
    };
    const result = await next({ ...call, before: [...(call.before ?? []), hook] });
    // A failure that may be tried again keeps its answer for the next try of this very call.
    if (used !== undefined && (result.ok || !result.error.retryable)) open.delete(used);
    return result;
  };
}
