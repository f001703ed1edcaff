import { type Effect, foresee, nearest, type ToolResult } from "@toolhaft/core";
import { type HostTool, hostTools } from "./host-tools.ts";
import { type AdapterOptions, contextMaker, type ToolSource } from "./options.ts";

/** What `run<Provider>` takes: here the program that owns the loop is the host, and may ask a person itself. */
export interface RunOptions extends AdapterOptions {
  signal?: AbortSignal;
  /**
   * With `approval: "host"`: what a person said to the open questions of the first run, by call id. Only these calls are
   * run then.
   */
  answers?: Readonly<Record<string, boolean>>;
}

/** A call that was not run because a person must be asked first. */
export interface OpenQuestion {
  callId: string;
  name: string;
  input: unknown;
  /** What it would touch. */
  effects: readonly Effect[];
}

/** A call as a provider's response holds it. */
export interface ModelCall {
  callId: string;
  name: string;
  /** Whatever the model sent: an object, or JSON text that may be cut off. */
  input: unknown;
}

export interface AnsweredCall extends ModelCall {
  result: ToolResult;
}

/** Runs calls side by side; the answers keep their order. */
export async function runCalls(
  source: ToolSource,
  calls: readonly ModelCall[],
  options: RunOptions,
): Promise<{ answered: AnsweredCall[]; questions: OpenQuestion[] }> {
  const { approval = "policy", answers, signal } = options;
  const tools = new Map(hostTools(source, options, approval === "host").map((hosted) => [hosted.name, hosted]));
  const contextOf = contextMaker(options);
  const questions: OpenQuestion[] = [];
  const answered: Promise<AnsweredCall>[] = [];
  for (const call of calls) {
    const hosted = tools.get(call.name);
    if (answers !== undefined && answers[call.callId] === undefined) continue;
    if (hosted === undefined) {
      answered.push(Promise.resolve({ ...call, result: unknownTool(call.name, [...tools.keys()]) }));
      continue;
    }
    const effects =
      approval === "host" && answers === undefined
        ? foresee(hosted.tool, call.input, contextOf({ callId: call.callId }, undefined))
        : [];
    if (effects.length > 0) questions.push({ ...call, effects });
    else if (answers?.[call.callId] === false) answered.push(Promise.resolve({ ...call, result: refused(call.name) }));
    else answered.push(run(hosted, call, signal, answers?.[call.callId] === true));
  }
  return { answered: await Promise.all(answered), questions };
}

async function run(
  hosted: HostTool,
  call: ModelCall,
  signal: AbortSignal | undefined,
  approved: boolean,
): Promise<AnsweredCall> {
  const { callId, input } = call;
  return { ...call, result: await hosted.call(input, { callId, signal, approved }) };
}

function unknownTool(name: string, known: readonly string[]): ToolResult {
  const shown = name.slice(0, 100);
  const near = nearest(shown, known);
  const message = `there is no tool "${shown}"`;
  const hint = near.length > 0 ? `did you mean ${near.join(", ")}?` : "call one of the tools that were given";
  return failure("not_found", message, hint);
}

function refused(name: string): ToolResult {
  return failure("denied", `the call of ${name} was refused by the user`, "do not repeat this call unchanged", {
    by: "user",
  });
}

function failure(
  code: "not_found" | "denied",
  message: string,
  hint: string,
  details?: Record<string, unknown>,
): ToolResult {
  return {
    ok: false,
    text: `${code}: ${message}\nhint: ${hint}`,
    error: { code, message, hint, retryable: false, ...(details && { details }) },
  };
}
