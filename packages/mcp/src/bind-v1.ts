import type { Server as ServerV1 } from "@modelcontextprotocol/sdk/server/index.js";
import type { CallToolResult, ClientCapabilities } from "@modelcontextprotocol/sdk/types.js";
import { rootUris } from "./roots.ts";
import { McpFault, type McpHandlers } from "./types.ts";

/**
 * Puts one session's handlers on a low-level server of the v1 SDK (`@modelcontextprotocol/sdk`, an optional peer) that
 * somebody else already has. Questions to a person wait in place on `elicitInput`.
 *
 * @param server A `Server` that is not connected yet; of an `McpServer`, its `.server`.
 */
export async function bindV1(server: ServerV1, handlers: McpHandlers): Promise<void> {
  const types = await import("@modelcontextprotocol/sdk/types.js");
  server.registerCapabilities({ tools: { listChanged: true }, resources: {}, experimental: { toolhaft: {} } });
  const client = () => server.getClientVersion()?.name;
  const faults = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw error instanceof McpFault ? new types.McpError(error.code, error.message) : error;
    }
  };

  server.setRequestHandler(types.ListToolsRequestSchema, ({ params }) =>
    faults(() => handlers.list({ cursor: params?.cursor, client: client() })),
  );
  server.setRequestHandler(types.CallToolRequestSchema, ({ params }, extra) =>
    faults(async (): Promise<CallToolResult> => {
      const reply = await handlers.call({
        name: params.name,
        arguments: params.arguments ?? {},
        meta: params._meta,
        signal: extra.signal,
        client: client(),
        notify: (progress) => extra.sendNotification({ method: "notifications/progress", params: progress }),
        ask: canAsk(server.getClientCapabilities())
          ? async (question, signal) => {
              const timeout = handlers.askTimeoutMs + 5_000;
              const { action, content } = await server.elicitInput({ mode: "form", ...question }, { signal, timeout });
              return { action, content };
            }
          : undefined,
        staysOpen: true,
      });
      if (reply.kind === "question") throw new Error("a question was parked on a server that waits in place");
      return reply.result;
    }),
  );
  server.setRequestHandler(types.ListResourcesRequestSchema, () => ({ resources: handlers.listResources() }));
  server.setRequestHandler(types.ReadResourceRequestSchema, ({ params }) =>
    faults(async () => {
      const { uri, mimeType, text, blob } = await handlers.readResource(params.uri);
      return { contents: [blob === undefined ? { uri, mimeType, text: text ?? "" } : { uri, mimeType, blob }] };
    }),
  );

  const askRoots = () => {
    if (server.getClientCapabilities()?.roots === undefined) return;
    void handlers.awaitRoots(server.request({ method: "roots/list" }, types.ResultSchema).then(rootUris));
  };
  const before = server.oninitialized;
  server.oninitialized = () => {
    before?.();
    askRoots();
  };
  server.setNotificationHandler(types.RootsListChangedNotificationSchema, askRoots);
  const stop = handlers.onListChanged(() => {
    server.sendToolListChanged().catch(handlers.onError);
  });
  const closed = server.onclose;
  server.onclose = () => {
    stop();
    closed?.();
  };
}

function canAsk(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
