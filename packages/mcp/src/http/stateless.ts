import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { McpHandlers } from "../types.ts";
import { maxBodyBytes } from "./checks.ts";

type Sdk = Pick<typeof import("@modelcontextprotocol/server"), "createMcpHandler"> &
  Pick<typeof import("../bind-v2.ts"), "createServerV2">;

/** The 2026 era of one token: it knows no sessions, so loaded tools, results and open questions hang on the token. */
export interface Stateless {
  handle(request: Request, body: unknown): Promise<Response>;
  close(): Promise<void>;
}

export function createStateless(sdk: Sdk, handlers: McpHandlers, onError: (error: Error) => void): Stateless {
  const handler: McpHttpHandler = sdk.createMcpHandler(
    // Each request has its own server; who subscribed hears of changes by `notify`, so none of them listens itself.
    () => sdk.createServerV2(handlers, "modern", { listensToChanges: false }),
    { legacy: "reject", onerror: onError, maxRequestBodySize: maxBodyBytes, maxSubscriptions: 64 },
  );
  const stop = handlers.onListChanged(() => handler.notify.toolsChanged());
  return {
    handle: (request, body) => handler.fetch(request, { parsedBody: body }),
    async close() {
      stop();
      await handler.close();
      await handlers.close();
    },
  };
}
