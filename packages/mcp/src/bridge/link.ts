import { setTimeout as wait } from "node:timers/promises";
import type { Client, ClientCapabilities, Transport } from "@modelcontextprotocol/client";
import { type ToolContext, ToolError } from "@toolhaft/core";
import { createProcessHost, type ProcessHost } from "@toolhaft/process";
import { boundedFetch } from "./bounded-fetch.ts";
import { type ChildTransport, type CommandSource, createChildTransport } from "./child-transport.ts";
import { answerElicitation } from "./elicit.ts";
import { createProgressTable, type ProgressTable } from "./progress.ts";
import { plainText } from "./schema.ts";

/** A server that listens. */
export interface UrlSource {
  url: string | URL;
  headers?: Readonly<Record<string, string>>;
}

export type McpSource = CommandSource | UrlSource | Client;

/** One connection, for as long as it holds. */
export interface Connection {
  client: Client;
  /** Whether the other side says that it is a Toolhaft, which tells more when asked. */
  toolhaft: boolean;
  progress: ProgressTable;
  /** Rejects when the connection ends or breaks; never resolves. */
  broken: Promise<never>;
  /** Calls that run; a question of the server goes to the last one's person. */
  running: ToolContext[];
  /** Whether the list of tools has changed since it was last read. */
  stale: boolean;
}

/** The way to a server, opened again when it has broken. */
export interface Link {
  /** Whether the server is a program of this machine, or a client that was given. */
  readonly local: boolean;
  /** What people call it. */
  nameOf(connection: Connection): string;
  /** @throws ToolError `unavailable` when the server cannot be reached. */
  connect(signal?: AbortSignal): Promise<Connection>;
  close(): Promise<void>;
}

export interface LinkOptions {
  version: string;
  maxBytes: number;
  connectMs: number;
  elicit: boolean;
  serverName: string | undefined;
  onError(error: Error): void;
}

type Sdk = typeof import("@modelcontextprotocol/client");
type Greeting = "legacy" | "auto" | "modern";

/** Pause after a start that failed or a connection that broke, doubled each time. */
const baseMs = 250;
const maxMs = 8_000;

export function createLink(source: McpSource, options: LinkOptions): Link {
  const given = isClient(source) ? source : undefined;
  let host: ProcessHost | undefined;
  let current: Promise<Connection> | undefined;
  let failures = 0;
  let notBefore = 0;
  let closed = false;
  const label = isCommand(source) ? source.command : isClient(source) ? "mcp" : new URL(source.url).host;

  /** One try in one way of greeting; a failed one leaves nothing open. */
  const attempt = async (sdk: Sdk, mode: Greeting): Promise<Connection> => {
    const breaking = breakable();
    const client = given ?? newClient(sdk, mode);
    const connection: Connection = {
      client,
      toolhaft: false,
      progress: createProgressTable(),
      broken: breaking.promise,
      running: [],
      stale: false,
    };
    let transport: Transport | ChildTransport | undefined;
    if (isCommand(source)) {
      host ??= createProcessHost();
      transport = createChildTransport(host, source, sdk, options.maxBytes);
    } else if (!isClient(source)) {
      transport = new sdk.StreamableHTTPClientTransport(new URL(source.url), {
        fetch: boundedFetch(options.maxBytes, breaking.fail),
        ...(source.headers && { requestInit: { headers: { ...source.headers } } }),
      });
    }
    const stderr = () => (transport !== undefined && "stderr" in transport ? transport.stderr() : "");
    watch(connection, breaking.fail, stderr);
    if (options.elicit && given === undefined) {
      client.setRequestHandler("elicitation/create", ({ params }) =>
        answerElicitation(params, connection.running.at(-1), nameOf(connection)),
      );
    }
    try {
      if (transport !== undefined) await client.connect(transport, { timeout: options.connectMs });
    } catch (error) {
      await transport?.close();
      if (error instanceof sdk.ProtocolError) throw error;
      throw (error instanceof ToolError ? error : breaking.known()) ?? unreachable(label, source, error, stderr());
    }
    return connection;
  };

  const open = async (): Promise<Connection> => {
    const sdk = await import("@modelcontextprotocol/client");
    // A probe would be the first word to a program that may know `initialize` only; a web server takes it well.
    const connection = await attempt(sdk, isCommand(source) ? "legacy" : "auto").catch((error: unknown) => {
      if (!(error instanceof sdk.ProtocolError)) throw error;
      if (!isCommand(source)) throw unreachable(label, source, error, "");
      // A program of the 2026 era alone refuses `initialize`: it is asked once more in its own way.
      return attempt(sdk, "modern").catch((again: unknown) => {
        throw again instanceof sdk.ProtocolError ? unreachable(label, source, again, "") : again;
      });
    });
    const { client } = connection;
    const capabilities = client.getServerCapabilities();
    connection.toolhaft = capabilities?.experimental?.toolhaft !== undefined;
    if (capabilities?.tools?.listChanged && client.getProtocolEra() === "modern" && given === undefined)
      client.listen({ toolsListChanged: true }).catch(options.onError);
    return connection;
  };

  const newClient = (sdk: Sdk, mode: Greeting): Client => {
    const capabilities: ClientCapabilities = options.elicit ? { elicitation: { form: {} } } : {};
    return new sdk.Client(
      { name: "toolhaft", version: options.version },
      {
        capabilities,
        versionNegotiation: { mode: mode === "modern" ? { pin: "2026-07-28" } : mode },
      },
    );
  };

  const nameOf = ({ client }: Connection) =>
    options.serverName ?? plainText(client.getServerVersion()?.name ?? label, 64).replace(/\s+/g, " ");

  /** Keeps what the client tells: changes of the list, progress, and its end. */
  const watch = (connection: Connection, fail: (error: Error) => void, stderr: () => string) => {
    const { client } = connection;
    client.setNotificationHandler("notifications/progress", ({ params }) => connection.progress.handle(params));
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      connection.stale = true;
    });
    client.onerror = (error) => {
      if (error instanceof ToolError) fail(error);
      else options.onError(new Error(`${nameOf(connection)}: ${plainText(error.message, 500)}`));
    };
    const before = client.onclose;
    client.onclose = () => {
      before?.();
      fail(ended(nameOf(connection), stderr()));
    };
  };

  return {
    local: isCommand(source) || given !== undefined,
    nameOf,
    async connect(signal) {
      if (closed) throw new ToolError("unavailable", "the bridge to this MCP server has been closed");
      if (current !== undefined) return current;
      const pause = notBefore - performance.now();
      if (pause > 0) await wait(pause, undefined, signal === undefined ? {} : { signal });
      // Somebody else may have opened it in the meantime.
      if (current !== undefined) return current;
      const opening = open();
      current = opening;
      const lost = () => {
        if (current !== opening) return;
        current = undefined;
        notBefore = performance.now() + Math.min(maxMs, baseMs * 2 ** failures);
        failures++;
      };
      opening.then((connection) => {
        failures = 0;
        connection.broken.catch(lost);
      }, lost);
      return opening;
    },
    async close() {
      closed = true;
      const connection = await current?.catch(() => undefined);
      if (given === undefined) await connection?.client.close();
      await host?.close();
    },
  };
}

function breakable() {
  let reject: (error: Error) => void = () => undefined;
  let known: Error | undefined;
  const promise = new Promise<never>((_resolve, rejects) => {
    reject = rejects;
  });
  // Whoever calls hears of it; with nobody calling it is no unhandled fault.
  promise.catch(() => undefined);
  return {
    promise,
    fail(error: Error) {
      known ??= error;
      reject(known);
    },
    known: () => known,
  };
}

function ended(server: string, stderr: string): ToolError {
  return new ToolError("unavailable", `the connection to the MCP server ${server} has ended${tailOf(stderr)}`, {
    retryable: true,
    hint: "call again: it is started anew",
  });
}

function unreachable(label: string, source: McpSource, error: unknown, stderr: string): ToolError {
  if (error instanceof ToolError) return error;
  const reason = error instanceof Error ? plainText(error.message, 1_000) : "unknown reason";
  const status = typeof error === "object" && error !== null && "status" in error ? error.status : undefined;
  const hint =
    status === 401 || status === 403
      ? "give the server's token as a header: headers: { authorization: 'Bearer …' }"
      : isCommand(source)
        ? `run it by hand to see why: ${[source.command, ...(source.args ?? [])].join(" ")}`
        : "look whether the server runs and the address is right";
  return new ToolError("unavailable", `cannot reach the MCP server ${label}: ${reason}${tailOf(stderr)}`, {
    retryable: true,
    hint,
    cause: error,
  });
}

/** The last lines of what a server wrote before it ended. */
function tailOf(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  return lines.length === 0 ? "" : `; its last words: ${plainText(lines.slice(-10).join("\n"), 2_000)}`;
}

export function isCommand(source: McpSource): source is CommandSource {
  return "command" in source;
}

export function isClient(source: McpSource): source is Client {
  return "callTool" in source;
}
