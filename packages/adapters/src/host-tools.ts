import type { AnyTool, Asker, ProgressUpdate, ToolResult } from "@toolhaft/core";
import { createHostApprovals } from "./approval.ts";
import { type AdapterOptions, contextMaker, type HostCall, namedTools, type ToolSource } from "./options.ts";

/** One call as a host makes it. */
export interface RunningCall extends HostCall {
  signal?: AbortSignal | undefined;
  /** Whether the host itself shows that a person agreed to this call. */
  approved?: boolean;
  /** The host's own place for progress. */
  onProgress?(update: ProgressUpdate): void;
  /** The host's own way to ask a person while the tool runs; asked before the context's. */
  asker?: Asker;
}

/** A tool as every adapter takes it: its name in the host, the call, and whether the host must ask for it first. */
export interface HostTool {
  name: string;
  tool: AnyTool;
  /** Takes whatever the model sent; gives failures as results. */
  call(input: unknown, call: RunningCall): Promise<ToolResult>;
  needsApproval(input: unknown, call: Partial<HostCall>): boolean;
}

/**
 * The tools of a source for one host.
 *
 * @param hostAsks Whether the host puts questions before it calls.
 */
export function hostTools(source: ToolSource, options: AdapterOptions, hostAsks: boolean): HostTool[] {
  const contextOf = contextMaker(options);
  const approvals = createHostApprovals();
  const named = namedTools(source, options);
  const fitted = new Map(
    named.filter(({ name, tool }) => name !== tool.name).map(({ name, tool }) => [tool.name, name]),
  );

  return named.map(({ name, tool }) => ({
    name,
    tool,
    needsApproval(input, { callId, ...host }) {
      if (!hostAsks) return false;
      return approvals.needed(tool, input, contextOf({ callId: callId ?? "", ...host }, undefined), callId);
    },
    async call(input, { signal, approved = false, onProgress, asker: ownAsker, ...host }) {
      const init = contextOf(host, signal);
      const asker = ownAsker ?? (hostAsks ? approvals.asker(tool, input, init, host.callId, approved) : undefined);
      const { progress } = init;
      const result = await tool.call(input, {
        ...init,
        ...(asker && { asker }),
        ...(fitted.size > 0 && { toolName: (original: string) => fitted.get(original) ?? original }),
        ...(onProgress && {
          progress(update: ProgressUpdate) {
            progress?.(update);
            onProgress(update);
          },
        }),
      });
      options.onResult?.(host.callId, result);
      return result;
    },
  }));
}
