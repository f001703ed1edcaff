import type { Toolset } from "@toolhaft/core";
import { createMcpHandlers } from "./handlers.ts";
import { recentInput } from "./recent-input.ts";
import { type ClaimedStdout, claimStdout } from "./stdout.ts";
import type { ServeOptions } from "./types.ts";

/** A message longer than this ends the connection. */
const maxMessageBytes = 16 * 1_024 * 1_024;
/** How long families may take to close before the process ends without them, in milliseconds. */
const closeMs = 2_000;
/** How often the parent is looked for: the end of stdin is the first sign, this the last. */
const parentCheckMs = 10_000;

export interface StdioOptions extends ServeOptions {
  /** Standard output, if it was claimed before this module was loaded. */
  stdout?: ClaimedStdout;
}

export interface Serving {
  /** Resolves when the connection has ended and the toolset is closed. */
  closed: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves a toolset on this process's standard input and output, to clients of both protocol eras.
 * Standard output belongs to the protocol from here on; everything else that prints goes to standard error.
 * When the client goes away the process ends with code 0, whatever timers or watchers are still alive.
 */
export async function serveStdio(
  tools: Toolset | (() => Promise<Toolset>),
  options: StdioOptions = {},
): Promise<Serving> {
  const stdout = options.stdout ?? claimStdout();
  const { serveStdio: serve, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  const { isJSONRPCRequest } = await import("@modelcontextprotocol/server");
  const { createServerV2 } = await import("./bind-v2.ts");
  const handlers = createMcpHandlers(tools, options);
  const transport = new StdioServerTransport(process.stdin, stdout.stream, { maxBufferSize: maxMessageBytes });

  let end: (leave: boolean) => void = () => undefined;
  const ended = new Promise<boolean>((resolve) => {
    end = resolve;
  });
  const closeTransport = transport.close.bind(transport);
  transport.close = async () => {
    await closeTransport();
    end(true);
  };
  const leave = () => end(true);
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, leave);
  const parent = process.ppid;
  const parentCheck = setInterval(() => {
    if (process.ppid !== parent) leave();
  }, parentCheckMs);
  parentCheck.unref();

  const handle = serve(({ era }) => createServerV2(handlers, era), {
    transport,
    onerror: (error) => handlers.onError(error),
  });
  const recent = recentInput(process.stdin);
  const onWireError = transport.onerror;
  transport.onerror = (error) => {
    if (error.name !== "ZodError") return onWireError?.(error);
    // A line that is JSON but no message of the protocol.
    handlers.onError(new Error("a line on standard input is no JSON-RPC message"));
    for (const id of recent.takeIds((message) => !isJSONRPCRequest(message))) {
      transport
        .send({ jsonrpc: "2.0", id, error: { code: -32_600, message: "Invalid Request" } })
        .catch(handlers.onError);
    }
  };

  const closed = ended.then(async (leaves) => {
    clearInterval(parentCheck);
    for (const signal of signals) process.off(signal, leave);
    await Promise.race([
      Promise.all([handle.close(), handlers.close().catch((error: unknown) => handlers.onError(toError(error)))]),
      new Promise((resolve) => setTimeout(resolve, closeMs).unref()),
    ]);
    // What a family or a host left running must not keep a server whose client is gone.
    if (leaves) process.exit(0);
    process.stdin.pause();
    stdout.restore();
  });
  return {
    closed,
    async close() {
      end(false);
      await closed;
    },
  };
}

function toError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}
