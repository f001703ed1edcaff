import type { AnyTool, ContextInit, ErrorCode, Family, Profile, ToolResult } from "@toolhaft/core";
import type { Files, TempWorkspace } from "../temp-workspace.ts";

/** Where one test of a tool happens: a fresh workspace and a fresh family. */
export interface Setting {
  readonly workspace: TempWorkspace;
  /** The tool under test. */
  readonly tool: AnyTool;
  /** What every call of this test shares: directory, and what the fixtures add. */
  readonly context: ContextInit;
  /** Calls any tool of the family, to prepare what the tested one needs. @throws when it fails */
  call(name: string, input: unknown): Promise<ToolResult & { ok: true }>;
}

export type Input = unknown | ((setting: Setting) => unknown);

export interface ValidFixture {
  title: string;
  /** What a model would send; a function where it holds ids or paths of the setting. */
  input: Input;
  files?: Files;
  prepare?(setting: Setting): Promise<void>;
  /** More to see in the result. */
  check?(result: ToolResult & { ok: true }, setting: Setting): void | Promise<void>;
}

export interface InvalidFixture {
  title: string;
  input: Input;
  files?: Files;
  prepare?(setting: Setting): Promise<void>;
  /** @default "invalid_input" */
  code?: ErrorCode;
  /** What the text must hold. */
  text?: string | RegExp;
}

/** What a tool is tried with. At least one valid call, and one invalid call where the tool has parameters. */
export interface ToolFixtures {
  valid: readonly ValidFixture[];
  invalid: readonly InvalidFixture[];
  files?: Files;
  prepare?(setting: Setting): Promise<void>;
  /** Added to every context: an asker, a policy, an agent. */
  context?: ContextInit | ((workspace: TempWorkspace) => ContextInit);
  /** Paths at which the check is finer than JSON Schema can say, as the errors name them: `edits[].lines`. */
  finer?: readonly string[];
  /** Profiles that cannot say this tool. */
  unsupported?: readonly Profile[];
}

/** Makes the tool, or the family that holds it, for one test. */
export type MakeTools = (
  workspace: TempWorkspace,
) => Family | readonly AnyTool[] | Promise<Family | readonly AnyTool[]>;
