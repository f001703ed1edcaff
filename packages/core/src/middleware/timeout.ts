import type { ToolContext } from "../context.ts";
import { canAbort } from "../create-context.ts";
import type { Middleware } from "./types.ts";

export interface TimeoutOptions {
  /** How long a call may take, in milliseconds; time spent waiting for a person's answer does not count. */
  ms: number;
  /** How long to wait after that for the tool to stop, in milliseconds. @default 2_000 */
  graceMs?: number;
  /** By tool name, in milliseconds. */
  perTool?: Readonly<Record<string, number>>;
}

/** Ends calls that take too long: `timeout`, which says whether the tool has stopped. */
export function timeout(options: TimeoutOptions): Middleware {
  const { graceMs = 2_000, perTool = {} } = options;
  for (const ms of [options.ms, graceMs, ...Object.values(perTool)]) {
    if (!(ms >= 0 && ms < 2 ** 31)) throw new TypeError(`timeout: ${ms} is no time in milliseconds`);
  }
  return async (call, next) => {
    const ms = (Object.hasOwn(perTool, call.tool.name) ? perTool[call.tool.name] : undefined) ?? options.ms;
    const limit = limitOf(call.context, ms);
    try {
      return await next({ ...call, graceMs, context: limit.context });
    } finally {
      limit.end();
    }
  };
}

/** The context with a signal that also fires after `ms`; the clock stands still while a question is open. */
function limitOf(context: ToolContext, ms: number): { context: ToolContext; end(): void } {
  const controller = new AbortController();
  const outer = canAbort(context) ? context.signal : undefined;
  const forward = (): void => controller.abort(outer?.reason);
  let left = ms;
  let since = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let questions = 0;
  let ended = false;
  const run = (): void => {
    since = performance.now();
    timer = setTimeout(
      () => controller.abort(new DOMException(`it did not finish within ${ms} ms`, "TimeoutError")),
      left,
    );
  };
  const pause = (): void => {
    clearTimeout(timer);
    left = Math.max(0, left - (performance.now() - since));
  };
  const end = (): void => {
    ended = true;
    clearTimeout(timer);
    outer?.removeEventListener("abort", forward);
  };
  if (outer?.aborted) forward();
  else outer?.addEventListener("abort", forward, { once: true });
  run();
  return {
    end,
    context: {
      ...context,
      signal: controller.signal,
      async ask(request) {
        if (questions++ === 0) pause();
        try {
          await context.ask(request);
        } finally {
          questions -= 1;
          if (questions === 0 && !ended) run();
        }
      },
    },
  };
}
