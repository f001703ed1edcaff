import type { ToolContext } from "./context.ts";
import { canAbort, gateOfContext, progressOf } from "./create-context.ts";
import { isToolError, type ToolFailure } from "./errors.ts";
import { failureOf, failureText, internalFailure } from "./failure.ts";
import type { FileChange } from "./file-change.ts";
import type { Internals } from "./internals.ts";
import type { Middleware, Next, ToolCall } from "./middleware/types.ts";
import { capText, maxTextBytes } from "./text-cap.ts";
import { type AnyTool, isToolOutput, type ToolOutput, type ToolResult } from "./tool.ts";
import { wellFormed } from "./well-formed.ts";

/** How long a tool may take to settle after an abort, in milliseconds. */
export const defaultGraceMs = 2_000;

/** Middleware around steps 2–8. One that throws gives `internal`; one that calls `next` twice is refused. */
export async function runThrough(internals: Internals, call: ToolCall): Promise<ToolResult> {
  const { middleware } = internals.binding;
  if (middleware.length === 0) return capResult(await runCall(internals, call), call.tool);
  return runChain(middleware, (passed) => runCall(internals, passed), call, internals);
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
  return runChain(middleware, inner, call, undefined);
}

async function runChain(
  middleware: readonly Middleware[],
  inner: Next,
  call: ToolCall,
  internals: Internals | undefined,
): Promise<ToolResult> {
  try {
    return capResult(await step(middleware, inner, 0, call), call.tool);
  } catch (thrown) {
    const error = isToolError(thrown) ? failureOf(thrown) : internalFailure(thrown, "a middleware failed: ");
    return capResult(failed(internals, error), call.tool);
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

/** Steps 2–8 of one call. Never throws for a tool's failure. */
export async function runCall(internals: Internals, call: ToolCall): Promise<ToolResult> {
  const { tool, context } = call;
  const { definition } = internals.core;
  const gate = gateOfContext(context);

  const allowed = gate?.policy.check({ tool: tool.name, agent: context.agent });
  if (allowed?.effect === "deny") return failed(internals, toolDenied(tool, allowed.reason, allowed.rule));

  const parsed = tool.parse(call.raw);
  if (!parsed.ok) return failed(internals, parsed.error);
  const { input } = parsed;

  const abortable = canAbort(context);
  if (abortable && context.signal.aborted)
    return failed(internals, aborted(context.signal, "the call was stopped before it began; nothing ran"));

  try {
    if (definition.effects !== undefined || allowed?.effect === "ask")
      await askEffects(tool, input, context, allowed?.effect === "ask");
    if (call.before !== undefined) for (const hook of call.before) await hook(input);
  } catch (thrown) {
    return failed(
      internals,
      context.signal.aborted && abortable
        ? aborted(context.signal, "the call was stopped before it began; nothing ran")
        : thrownFailure(thrown),
    );
  }

  let output: unknown;
  try {
    output = abortable
      ? await executeAbortable(internals, input, context, call.graceMs ?? defaultGraceMs)
      : await definition.execute(input, context);
  } catch (thrown) {
    await progressOf(context)?.settle();
    if (thrown instanceof StillRunning) return failed(internals, thrown.failure);
    const files = isToolError(thrown) ? thrown.fileChanges : undefined;
    return failed(
      internals,
      abortable && context.signal.aborted ? abortedBy(context.signal, thrown) : thrownFailure(thrown),
      files,
    );
  }
  const quiet = progressOf(context)?.settle();
  if (quiet !== undefined) await quiet;
  return finish(internals, tool, output, input, context);
}

/** Steps 7 and 8. */
function finish(
  internals: Internals,
  tool: AnyTool,
  output: unknown,
  input: unknown,
  context: ToolContext,
): ToolResult {
  const { core } = internals;
  const extras = isToolOutput(output) ? output : undefined;
  const data = extras === undefined ? output : extras.data;
  if (core.validateOutput) {
    const problem = core.checkOutput(data);
    if (problem !== undefined) return failed(internals, problem, extras?.fileChanges);
  }
  let text: unknown;
  try {
    text = core.definition.render(data, input, context.toolName);
  } catch (thrown) {
    return failed(internals, internalFailure(thrown, `${tool.name}: its render failed: `), extras?.fileChanges);
  }
  if (typeof text !== "string") {
    return failed(
      internals,
      internalFailure(
        new TypeError(`${tool.name}: its render gave ${text === null ? "null" : typeof text} in place of a text`),
      ),
      extras?.fileChanges,
    );
  }
  const shown = wellFormed(text);
  return extras === undefined ? Object.freeze({ ok: true, text: shown, data }) : withExtras(shown, extras);
}

/** The last step: a text over the tool's limits loses its middle. */
function capResult(result: ToolResult, tool: AnyTool): ToolResult {
  const capped = capText(result.text, { maxTextChars: tool.maxTextChars, maxTextBytes });
  return capped.left === 0 ? result : Object.freeze({ ...result, text: capped.text });
}

function withExtras(text: string, extras: ToolOutput<unknown>): ToolResult {
  return Object.freeze({
    ok: true,
    text,
    data: extras.data,
    ...(extras.fileChanges === undefined ? {} : { fileChanges: extras.fileChanges }),
    ...(extras.attachments === undefined ? {} : { attachments: extras.attachments }),
  });
}

/** A failure as a result. The lead stands before it while nothing has happened. */
export function failed(
  internals: Internals | undefined,
  error: ToolFailure,
  fileChanges?: readonly FileChange[],
): ToolResult {
  const definition = internals?.core.definition;
  const untouched =
    error.code !== "internal" &&
    error.details?.stillRunning !== true &&
    (fileChanges === undefined || fileChanges.length === 0);
  const text = wellFormed(failureText(error, untouched ? definition?.failureLead : undefined));
  return Object.freeze({
    ok: false,
    text,
    error: Object.freeze(error),
    ...(fileChanges === undefined ? {} : { fileChanges }),
  });
}

function thrownFailure(thrown: unknown): ToolFailure {
  return isToolError(thrown) ? failureOf(thrown) : internalFailure(thrown);
}

function toolDenied(tool: AnyTool, reason: string, rule: unknown): ToolFailure {
  return {
    code: "denied",
    message: `the tool ${tool.name} is not allowed here (${reason})`,
    hint: "do not repeat this call unchanged",
    retryable: false,
    details: { by: "policy", ...(rule === undefined ? {} : { rule }) },
  };
}

/** Step 5: what the input says will be touched, and the tool itself where a rule asks for it, go through the gate. */
async function askEffects(tool: AnyTool, input: unknown, context: ToolContext, askTool: boolean): Promise<void> {
  const effects = tool.effects(input, context);
  let asked = false;
  for (const { permission, resource } of effects) {
    asked ||= context.permits(permission, resource) === "ask";
    await context.ask({ permission, resources: [resource], reason: `${tool.title}: ${permission} ${resource}` });
  }
  if (askTool && !asked) await context.ask({ permission: "tool.call", resources: [tool.name], reason: tool.title });
}

function isTimeout(signal: AbortSignal): boolean {
  const { reason } = signal;
  return typeof reason === "object" && reason !== null && "name" in reason && reason.name === "TimeoutError";
}

function aborted(signal: AbortSignal, message: string, details?: Record<string, unknown>): ToolFailure {
  const timeout = isTimeout(signal);
  return {
    code: timeout ? "timeout" : "cancelled",
    message,
    retryable: timeout,
    ...(details === undefined ? {} : { details }),
  };
}

/** The tool rejected after the abort: it stopped. What it said of its own state is kept. */
function abortedBy(signal: AbortSignal, thrown: unknown): ToolFailure {
  if (
    isToolError(thrown) &&
    (thrown.code === "cancelled" || thrown.code === "timeout") === false &&
    thrown.code !== "internal"
  ) {
    return aborted(signal, `the call was stopped: ${thrown.message}`, { ...thrown.details });
  }
  const said = isToolError(thrown) ? `: ${thrown.message}` : "";
  return aborted(
    signal,
    `the call was stopped${said}`,
    isToolError(thrown) && thrown.details !== undefined ? { ...thrown.details } : undefined,
  );
}

class StillRunning extends Error {
  readonly failure: ToolFailure;
  constructor(failure: ToolFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Runs with an abort that is cooperative and honest: work that finishes is a success, work that hangs is said to run on. */
function executeAbortable(
  internals: Internals,
  input: unknown,
  context: ToolContext,
  graceMs: number,
): Promise<unknown> {
  const { signal } = context;
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onAbort = (): void => {
      timer = setTimeout(() => {
        end();
        const message = `the call was stopped after waiting ${graceMs} ms, but the tool has not stopped: it is still running, and its effects are unknown`;
        reject(new StillRunning(aborted(signal, message, { stillRunning: true })));
      }, graceMs);
    };
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const settle =
      <T>(with_: (value: T) => void) =>
      (value: T): void => {
        end();
        with_(value);
      };
    try {
      Promise.resolve(internals.core.definition.execute(input, context)).then(settle(resolve), settle(reject));
    } catch (thrown) {
      end();
      reject(thrown);
    }
  });
}
