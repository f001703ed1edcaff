import type { Middleware } from "@toolhaft/core";
import type { Notice } from "./notice.ts";

/** Where the middleware takes pending notices from: `dispatch_inbox` of the dispatcher. */
export interface NoticeSource {
  readonly tools: readonly {
    name: string;
    call(input: unknown, context?: object): Promise<{ ok: boolean; data?: unknown }>;
  }[];
}

/** Tools whose own answer tells of notices. */
const own = new Set(["dispatch_inbox"]);

/**
 * Appends pending notices to the text of any tool's answer, for hosts that cannot put them into the conversation. What
 * was appended is acknowledged; a failing inbox never spoils an answer.
 *
 * @param dispatch The family that `createDispatch` gave.
 * @example
 * toolset(dispatch, hashline).wrap(withNotices(dispatch));
 */
export function withNotices(dispatch: NoticeSource): Middleware {
  const inbox = dispatch.tools.find(({ name }) => name === "dispatch_inbox");
  return async (call, next) => {
    const result = await next(call);
    if (inbox === undefined || own.has(call.tool.name) || call.context.signal.aborted) return result;
    const { callId: _, ...context } = call.context;
    const found = await inbox.call({ limit: 5 }, context);
    const notices = found.ok ? (found.data as { notices: readonly Notice[] }).notices : [];
    if (notices.length === 0) return result;
    const text = [result.text, ...notices.map((notice) => notice.text)].join("\n\n");
    // A text beyond the tool's limit loses its middle: then the notices wait for a shorter one.
    if (text.length > call.tool.maxTextChars) return result;
    await inbox.call({ ack: notices.map(({ id }) => id), limit: 1 }, context);
    return { ...result, text };
  };
}
