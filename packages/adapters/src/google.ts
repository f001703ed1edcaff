import type { JsonSchema } from "@toolhaft/core";
import { type AdapterOptions, namedTools, type ToolSource } from "./options.ts";
import { type AnsweredCall, type ModelCall, type OpenQuestion, type RunOptions, runCalls } from "./run-calls.ts";
import { inProfile, type ReportRow } from "./strict.ts";

export type { AdapterOptions, HostCall, ToolSource } from "./options.ts";
export type { AnsweredCall, OpenQuestion, RunOptions } from "./run-calls.ts";

export interface GeminiOptions extends AdapterOptions {
  /**
   * Tools whose schema Gemini cannot take, which are left out then.
   *
   * @default a `TypeError` that names them
   */
  onReport?(rows: readonly ReportRow[]): void;
}

export interface GeminiDeclaration {
  name: string;
  description: string;
  /** Absent where a tool has no parameters: an object without properties is refused. */
  parameters?: Record<string, unknown>;
}

/**
 * Function declarations for Gemini: `config: { tools: [{ functionDeclarations: toGemini(tools) }] }`.
 *
 * @throws TypeError when a schema cannot be said and nobody is told by `onReport`.
 */
export function toGemini(source: ToolSource, options: GeminiOptions = {}): GeminiDeclaration[] {
  const report: ReportRow[] = [];
  const declarations: GeminiDeclaration[] = [];
  for (const { name, tool } of namedTools(source, options)) {
    const made = inProfile(tool, "gemini");
    if ("schema" in made) declarations.push(declarationOf(name, tool.description, made.schema));
    else report.push(made);
  }
  if (report.length > 0 && options.onReport === undefined) {
    throw new TypeError(
      `toGemini: Gemini cannot take ${report.map(({ tool, problem }) => `${tool} (${problem})`).join("; ")}. Omit them, or give onReport to have them left out`,
    );
  }
  options.onReport?.(report);
  return declarations;
}

function declarationOf(name: string, description: string, schema: JsonSchema): GeminiDeclaration {
  const { properties } = schema;
  const empty = properties === undefined || Object.keys({ ...(properties as object) }).length === 0;
  return { name, description, ...(!empty && { parameters: { ...schema } }) };
}

/** What `runGemini` reads of a response of `generateContent`. */
export interface GeminiResponse {
  candidates?: readonly { content?: { parts?: readonly GeminiPart[] | undefined } | undefined }[] | undefined;
}

export interface GeminiPart {
  functionCall?: { id?: string | undefined; name?: string | undefined; args?: unknown } | undefined;
}

export interface GeminiFunctionResponse {
  functionResponse: { id?: string; name: string; response: { output: string } | { error: string } };
}

export interface GeminiRun {
  /** Append it after the model's own content; there is none when nothing was called. */
  contents: { role: "user"; parts: GeminiFunctionResponse[] }[];
  results: AnsweredCall[];
  /** With `approval: "host"`: calls that wait for a person. Ask, and run again with `answers`. */
  questions: OpenQuestion[];
}

/**
 * Runs the calls of a response and gives what to append to the conversation. A call without an id is known as its name
 * and position, `echo#0`.
 *
 * @example
 * contents.push(response.candidates[0].content, ...(await runGemini(tools, response)).contents);
 */
export async function runGemini(
  source: ToolSource,
  response: GeminiResponse,
  options: RunOptions = {},
): Promise<GeminiRun> {
  const ids = new Map<string, string>();
  const parts = response.candidates?.[0]?.content?.parts ?? [];
  const calls = parts.flatMap(({ functionCall }, index): ModelCall[] => {
    if (functionCall?.name === undefined) return [];
    const { id, name, args } = functionCall;
    const callId = id ?? `${name}#${index}`;
    if (id !== undefined) ids.set(callId, id);
    return [{ callId, name, input: args ?? {} }];
  });
  const { answered, questions } = await runCalls(source, calls, options);
  const responses = answered.map(({ callId, name, result }): GeminiFunctionResponse => {
    const id = ids.get(callId);
    const given = result.ok ? { output: result.text } : { error: result.text };
    return { functionResponse: { ...(id !== undefined && { id }), name, response: given } };
  });
  return {
    contents: responses.length === 0 ? [] : [{ role: "user", parts: responses }],
    results: answered,
    questions,
  };
}
