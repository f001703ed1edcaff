export { type Clock, systemClock } from "./clock.ts";
export type {
  Ask,
  Asker,
  ContextInit,
  Decision,
  PermissionRequest,
  ProgressUpdate,
  ToolContext,
} from "./context.ts";
export { type ErrorCode, errorCodes, ToolError, type ToolErrorOptions, type ToolFailure } from "./errors.ts";
export type { Family } from "./family.ts";
export type { FileChange, FileState } from "./file-change.ts";
export type { Patterns, Policy, PolicyRule, Verdict } from "./policy.ts";
export type { StandardToolV1 } from "./standard-tool.ts";
export {
  type Annotations,
  type AnyTool,
  type Attachment,
  type Effect,
  type InferInput,
  type InferOutput,
  isToolOutput,
  type Tool,
  type ToolDefinition,
  type ToolOutput,
  type ToolOutputExtras,
  type ToolResult,
  type ToolSchema,
  toolOutput,
} from "./tool.ts";
