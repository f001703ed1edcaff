export { roomForListeners } from "./abort.ts";
export { type Clock, systemClock } from "./clock.ts";
export type { Ask, Asker, ContextInit, Decision, PermissionRequest, ProgressUpdate, ToolContext } from "./context.ts";
export { createContext, isVisible, narrowContext } from "./create-context.ts";
export { defineTool } from "./define-tool.ts";
export {
  type ErrorCode,
  errorCodes,
  isToolError,
  ToolError,
  type ToolErrorOptions,
  type ToolFailure,
} from "./errors.ts";
export type { Family } from "./family.ts";
export { createNonce, fence } from "./fence.ts";
export type { FileChange, FileState } from "./file-change.ts";
export { fitName } from "./fit-name.ts";
export { type ForeignToolDefinition, foreignTool } from "./foreign-tool.ts";
export { askerOf, foresee } from "./foresee.ts";
export { createId } from "./id.ts";
export { findInvisible, type Invisible, showInvisible } from "./invisible.ts";
export { type ApprovalOptions, approval } from "./middleware/approval.ts";
export { type LoggingOptions, type LogRecord, logging } from "./middleware/logging.ts";
export { type RateLimitOptions, rateLimit } from "./middleware/rate-limit.ts";
export { type ResultCapOptions, resultCap, type Spill } from "./middleware/result-cap.ts";
export { type RetryOptions, retry } from "./middleware/retry.ts";
export { type TimeoutOptions, timeout } from "./middleware/timeout.ts";
export type { Middleware, Next, ToolCall } from "./middleware/types.ts";
export { nearest } from "./nearest.ts";
export { createPolicy, type PolicyInit } from "./policy/create-policy.ts";
export { defaultPolicy } from "./policy/default-policy.ts";
export { parseRule } from "./policy/parse-rule.ts";
export type { Patterns, Policy, PolicyRule, Verdict } from "./policy/types.ts";
export {
  estimateTokens,
  fromProfile,
  type Profile,
  profileReport,
  profiles,
  standardInput,
  toJsonSchema,
} from "./profiles.ts";
export type { JsonSchema } from "./schema/json-schema.ts";
export { findSecrets, maskSecrets, type SecretFinding } from "./secrets.ts";
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
export { alias, familiesOf, type Toolset, toolset } from "./toolset.ts";
export { resultFromJson, resultToJson } from "./wire.ts";
