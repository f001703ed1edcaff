import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { ContextInit, ToolContext } from "./context.ts";
import type { ToolFailure } from "./errors.ts";
import type { FileChange } from "./file-change.ts";
import type { PolicyRule } from "./policy/types.ts";
import type { StandardToolV1 } from "./standard-tool.ts";

/** A validator that also describes itself: zod >= 4.2, ArkType >= 2.1.28, Valibot through @valibot/to-json-schema. */
export interface ToolSchema<In = unknown, Out = In> {
  readonly "~standard": StandardSchemaV1.Props<In, Out> & StandardJSONSchemaV1.Props<In, Out>;
}

export type InferInput<S extends ToolSchema> = StandardSchemaV1.InferInput<S>;
export type InferOutput<S extends ToolSchema> = StandardSchemaV1.InferOutput<S>;

/** All four, always: an absent hint reads as "destructive, open world". */
export interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

/** One thing a call will touch, as far as the input tells: `{ permission: "file.write", resource: "/w/src/a.ts" }`. */
export interface Effect {
  permission: string;
  resource: string;
}

export interface Attachment {
  name: string;
  mimeType: string;
  bytes: number;
  source:
    | { kind: "bytes"; bytes: Uint8Array }
    | { kind: "file"; path: string }
    | { kind: "text"; text: string }
    | { kind: "uri"; uri: string };
}

const toolOutputTag: unique symbol = Symbol.for("toolhaft.output");

/** What `execute` returns when there is more than data; told by a symbol, not by its keys. */
export interface ToolOutput<T> {
  readonly [toolOutputTag]: true;
  readonly data: T;
  readonly fileChanges?: readonly FileChange[];
  readonly attachments?: readonly Attachment[];
}

export interface ToolOutputExtras {
  fileChanges?: readonly FileChange[];
  attachments?: readonly Attachment[];
}

/** Data together with the files it changed or the attachments it brings. */
export function toolOutput<T>(data: T, extras: ToolOutputExtras): ToolOutput<T> {
  return { [toolOutputTag]: true, data, ...extras };
}

/** Whether a value came from {@link toolOutput}. */
export function isToolOutput(value: unknown): value is ToolOutput<unknown> {
  return typeof value === "object" && value !== null && toolOutputTag in value;
}

export type ToolResult<O = unknown> =
  | {
      ok: true;
      /** What a model reads. */
      text: string;
      /** What an application reads; matches the output schema. */
      data: O;
      fileChanges?: readonly FileChange[];
      attachments?: readonly Attachment[];
    }
  | {
      ok: false;
      text: string;
      error: ToolFailure;
      /** What had already happened when the call failed. */
      fileChanges?: readonly FileChange[];
    };

export interface ToolDefinition<I extends ToolSchema, O extends ToolSchema> {
  /** `^[a-z][a-z0-9_]{0,47}$`: leaves room for host prefixes. */
  name: string;
  /** For people: 1–64 characters, one line. */
  title: string;
  /** For the model: 20–1,024 characters; when to use it and what comes back. */
  description: string;
  inputSchema: I;
  outputSchema: O;
  annotations: Annotations;
  /** Words people use for it, in any language; read by `tool_search` only. */
  keywords?: readonly string[];
  /** Not part of the schema; passed on where a host has a place for them. */
  examples?: readonly { title: string; input: InferInput<I> }[];
  /** @default 30_000 */
  maxTextChars?: number;
  /** @default 400 */
  maxSchemaTokens?: number;
  /** Whether the output is checked against its schema. @default unless NODE_ENV is "production" */
  validateOutput?: boolean;
  /** Stands before a failure's text while nothing has happened: "Rejected, nothing written." */
  failureLead?: string;
  /** Defaults for the tool's own permissions; below every rule of the user and of core. */
  defaultRules?: readonly PolicyRule[];
  /** Pure: what this call will touch, as far as the input tells. */
  effects?(input: InferOutput<I>, context: ToolContext): readonly Effect[];
  execute(input: InferOutput<I>, context: ToolContext): Promise<InferOutput<O> | ToolOutput<InferOutput<O>>>;
  /** Pure and total: the text a model reads. `toolName` gives the name under which the host knows a tool. */
  render(output: InferOutput<O>, input: InferOutput<I>, toolName: (original: string) => string): string;
}

/** A tool: frozen plain data plus functions. `I` raw input, `O` output, `P` parsed input. */
export interface Tool<I = unknown, O = unknown, P = I> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: Annotations;
  readonly keywords: readonly string[];
  readonly examples: readonly { title: string; input: unknown }[];
  readonly inputSchema: ToolSchema;
  readonly outputSchema: ToolSchema;
  readonly maxTextChars: number;
  readonly defaultRules: readonly PolicyRule[];
  parse(raw: unknown): { ok: true; input: P; repaired: readonly string[] } | { ok: false; error: ToolFailure };
  effects(input: P, context: ToolContext): readonly Effect[];
  /** Checks any value, runs, renders. Never throws for a tool's failure. */
  call(input: I, context?: ContextInit): Promise<ToolResult<O>>;
  readonly "~standard": StandardToolV1.Props<I, P, O, O>;
}

export type AnyTool = Tool;
