import type { CallReply, McpHandlers } from "../types.ts";

/** Handlers that run so many calls at one time; one more is told to wait, in the words of a tool. */
export function limitCalls(handlers: McpHandlers, maxCalls: number): McpHandlers {
  let running = 0;
  return {
    ...handlers,
    async call(request): Promise<CallReply> {
      if (running >= maxCalls) return busy(maxCalls);
      running++;
      try {
        return await handlers.call(request);
      } finally {
        running--;
      }
    },
  };
}

function busy(maxCalls: number): CallReply {
  const text = `unavailable: ${maxCalls} calls are running in this session already\nhint: wait until one has ended, then call again`;
  return { kind: "result", result: { content: [{ type: "text", text }], isError: true } };
}
