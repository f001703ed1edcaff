import { isToolError } from "./errors.ts";
import { failureOf, internalFailure } from "./failure.ts";
import type { Internals } from "./internals.ts";
import type { Middleware, Next, ToolCall } from "./middleware/types.ts";
import { capResult, failed } from "./result.ts";
import { type Around, runSteps } from "./steps.ts";
import type { AnyTool, ToolResult } from "./tool.ts";

/** Middleware around steps 2–8. One that throws gives `internal`; one that calls `next` twice is refused. */
export function runThrough(internals: Internals, call: ToolCall): Promise<ToolResult> {
  const { middleware } = internals.binding;
  // Without middleware the steps cap their own text: a second async function around them costs a quarter of the call.
  if (middleware.length === 0) return runSteps(internals, call, undefined);
  const around: Around = { passedOn: false, endedEarly: false };
  let steps: Promise<ToolResult> | undefined;
  try {
    const given = step(middleware, (passed) => (steps = runSteps(internals, passed, around)), 0, call);
    if (given !== steps || around.endedEarly) return whole(given, call.tool, internals);
    // Every middleware passed on the promise that it was given: the steps are on their own again.
    around.passedOn = true;
    return given;
  } catch (thrown) {
    return whole(Promise.reject(thrown), call.tool, internals);
  }
}

/** The same around a tool that core did not make. What must run before `execute` runs before its `call`. */
export async function runForeign(
  tool: AnyTool,
  middleware: readonly Middleware[],
  call: ToolCall,
): Promise<ToolResult> {
  const inner: Next = async (passed) => {
    const hooks = passed.before ?? [];
    if (hooks.length > 0) {
      const parsed = tool.parse(passed.raw);
      if (!parsed.ok) return failed(undefined, parsed.error);
      for (const hook of hooks) await hook(parsed.input);
    }
    return tool.call(passed.raw, passed.context);
  };
  return whole(
    Promise.resolve().then(() => step(middleware, inner, 0, call)),
    call.tool,
    undefined,
  );
}

/** The result within the tool's limits; what a middleware throws as a failure. */
async function whole(given: Promise<ToolResult>, tool: AnyTool, internals: Internals | undefined): Promise<ToolResult> {
  try {
    return capResult(await given, tool);
  } catch (thrown) {
    const error = isToolError(thrown) ? failureOf(thrown) : internalFailure(thrown, "a middleware failed: ");
    return capResult(failed(internals, error), tool);
  }
}

function step(middleware: readonly Middleware[], inner: Next, index: number, call: ToolCall): Promise<ToolResult> {
  const current = middleware[index];
  if (current === undefined) return inner(call);
  let used = false;
  return current(call, (passed) => {
    if (used && !mayRepeat(current))
      return Promise.reject(new TypeError("a middleware called `next` twice; only `retry` may"));
    used = true;
    return step(middleware, inner, index + 1, passed);
  });
}

const repeats: unique symbol = Symbol.for("toolhaft.repeats.v1");

/** Marks a middleware that may call `next` again. */
export function repeating(middleware: Middleware): Middleware {
  return Object.assign(middleware, { [repeats]: true });
}

function mayRepeat(middleware: Middleware): boolean {
  return repeats in middleware;
}
