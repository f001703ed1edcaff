import type { AnyTool } from "./tool.ts";

/** Tools that share a store, a server or a workspace. Making one opens nothing; the first call does. */
export interface Family extends AsyncDisposable {
  readonly name: string;
  readonly tools: readonly AnyTool[];
  close(): Promise<void>;
}
