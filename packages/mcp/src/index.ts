export { bindV1 } from "./bind-v1.ts";
export type { CommandSource } from "./bridge/child-transport.ts";
export type { McpSource, UrlSource } from "./bridge/link.ts";
export { type BridgeOptions, fromMcp, type McpFamily } from "./from-mcp.ts";
export { createMcpHandlers } from "./handlers.ts";
export { type Serving, type StdioOptions, serveStdio } from "./stdio.ts";
export { type ClaimedStdout, claimStdout } from "./stdout.ts";
export {
  type CallReply,
  type CallRequest,
  type LazyTools,
  type McpCallResult,
  type McpContent,
  McpFault,
  type McpHandlers,
  type McpTool,
  type ProgressParams,
  type Question,
  type QuestionAnswer,
  type ResourceContents,
  type ServeOptions,
  type Workspace,
} from "./types.ts";
