import { aborted, defaultGraceMs, isStillRunning, settleOrAbort, stopped } from "./abort.ts";
import type { ToolContext } from "./context.ts";
import { canAbort, noteRepairs, progressOf, toolVerdict, withOwnSignal } from "./create-context.ts";
import { isToolError, type ToolFailure } from "./errors.ts";
import { failureOf, internalFailure } from "./failure.ts";
import type { Internals } from "./internals.ts";
import type { ToolCall } from "./middleware/types.ts";
import type { Verdict } from "./policy/types.ts";
import { capResult, failed } from "./result.ts";
import { type AnyTool, isToolOutput, type ToolOutput, type ToolResult } from "./tool.ts";
import { wellFormed } from "./well-formed.ts";

const nothingRan = "the call was stopped before it began; nothing ran";

/** What stands around the steps of one call; middleware sees the whole text, so it is not theirs to cap. */
export interface Around {
  /** Set once all of it has handed on the steps' own promise: then nothing comes after them. */
  passedOn: boolean;
  /** Set by steps that ended before anybody could tell. */
  endedEarly: boolean;
}

/**
 * Steps 2–8 of one call. Never throws for a tool's failure.
 *
 * @param around Left out where the steps are all there is, and cap their text.
 */
export async function runSteps(internals: Internals, call: ToolCall, around: Around | undefined): Promise<ToolResult> {
  const { tool } = call;
  const context = withOwnSignal(call.context);
  const abortable = canAbort(context);
  let running = false;
  try {
    const { definition } = internals.core;
    const allowed = toolVerdict(context, tool.name);
    if (allowed?.effect === "deny") return ended(failed(internals, toolDenied(tool, allowed)), tool, around);

    const parsed = tool.parse(call.raw);
    if (!parsed.ok) return ended(failed(internals, parsed.error), tool, around);
    const { input, repaired } = parsed;
    if (repaired.length > 0) noteRepairs(context, repaired);
    if (abortable && context.signal.aborted)
      return ended(failed(internals, aborted(context.signal, nothingRan)), tool, around);

    if (definition.effects !== undefined || allowed?.effect === "ask")
      await askEffects(tool, input, context, allowed?.effect === "ask");
    if (call.before !== undefined) for (const hook of call.before) await hook(input);
    if (abortable && context.signal.aborted)
      return ended(failed(internals, aborted(context.signal, nothingRan)), tool, around);

    running = true;
    const output = abortable
      ? await settleOrAbort(() => definition.execute(input, context), context.signal, call.graceMs ?? defaultGraceMs)
      : await definition.execute(input, context);
    running = false;
    const quiet = progressOf(context)?.settle();
    if (quiet !== undefined) await quiet;
    return ended(finish(internals, tool, output, input, context), tool, around);
  } catch (thrown) {
    await progressOf(context)?.settle();
    return ended(failedBy(internals, thrown, abortable ? context.signal : undefined, running), tool, around);
  }
}

function ended(result: ToolResult, tool: AnyTool, around: Around | undefined): ToolResult {
  if (around === undefined || around.passedOn) return capResult(result, tool);
  around.endedEarly = true;
  return result;
}

/** What a throw means: of `execute` while it ran, or of the gate and the hooks before it. */
function failedBy(
  internals: Internals,
  thrown: unknown,
  signal: AbortSignal | undefined,
  running: boolean,
): ToolResult {
  const error = isToolError(thrown) ? thrown : undefined;
  if (error === undefined && isStillRunning(thrown)) return failed(internals, thrown.failure);
  if (signal?.aborted)
    return failed(internals, running ? stopped(signal, thrown) : aborted(signal, nothingRan), error?.fileChanges);
  if (error === undefined) return failed(internals, internalFailure(thrown));
  return failed(internals, failureOf(error), error.fileChanges, error.lead);
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
  const problem = core.validateOutput ? core.checkOutput(data) : undefined;
  if (problem !== undefined) return failed(internals, problem, extras?.fileChanges);
  let text: unknown;
  try {
    text = core.definition.render(data, input, context.toolName);
  } catch (thrown) {
    return failed(internals, internalFailure(thrown, `${tool.name}: its render failed: `), extras?.fileChanges);
  }
  if (typeof text !== "string") return failed(internals, noText(tool, text), extras?.fileChanges);
  const shown = wellFormed(text);
  const result: ToolResult = extras === undefined ? { ok: true, text: shown, data } : withExtras(shown, extras);
  // A guard for whoever writes middleware, and a fifth of a small call: where outputs are not checked, nor is this.
  return core.validateOutput ? Object.freeze(result) : result;
}

function noText(tool: AnyTool, given: unknown): ToolFailure {
  const type = given === null ? "null" : typeof given;
  return internalFailure(new TypeError(`${tool.name}: its render gave ${type} in place of a text`));
}

function withExtras(text: string, { data, fileChanges, attachments }: ToolOutput<unknown>): ToolResult {
  return {
    ok: true,
    text,
    data,
    ...(fileChanges === undefined ? {} : { fileChanges }),
    ...(attachments === undefined ? {} : { attachments }),
  };
}

function toolDenied(tool: AnyTool, { reason, rule }: Verdict): ToolFailure {
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
