import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Toolset } from "@toolhaft/core";
import { createMcpHandlers } from "./handlers.ts";
import { createGatekeeper, mcpPath, type Refusal, tooLarge } from "./http/checks.ts";
import { corsHeaders, readBody, sendPreflight, sendRefusal, sendResponse, toWebRequest } from "./http/exchange.ts";
import { limitCalls } from "./http/limited.ts";
import { checkHttpOptions, type HttpOptions } from "./http/options.ts";
import { createSessions } from "./http/sessions.ts";
import { createStateless, type Stateless } from "./http/stateless.ts";
import type { Serving } from "./stdio.ts";
import type { ServeOptions } from "./types.ts";

export type { HttpOptions } from "./http/options.ts";

export interface HttpServing extends Serving {
  /** Where clients connect, e.g. `http://127.0.0.1:4711/mcp`. */
  url: string;
  /** What they send as bearer token, when it was made here; the given ones are not repeated. */
  token: string | undefined;
}

/** How long a client may take for its headers, and for its whole request, in milliseconds. */
const headersTimeout = 10_000;
const requestTimeout = 60_000;

/**
 * Serves a toolset over Streamable HTTP, to clients of both protocol eras: a session with a server of its own for each
 * 2025 client, and per bearer token for 2026 clients. Listens on loopback and asks for a token unless told otherwise.
 *
 * @throws TypeError when the options would open it further than they allow for.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
 */
export async function serveHttp(
  tools: Toolset | (() => Promise<Toolset>),
  options: ServeOptions & HttpOptions = {},
): Promise<HttpServing> {
  const settings = checkHttpOptions(options);
  const made = settings.tokens === undefined ? randomBytes(32).toString("base64url") : undefined;
  const tokens = made === undefined ? (settings.tokens ?? []) : [made];
  const onError = options.onError ?? ((error: Error) => void process.stderr.write(`toolhaft: ${error.message}\n`));
  const [sdk, bind] = await Promise.all([import("@modelcontextprotocol/server"), import("./bind-v2.ts")]);

  let loading: Promise<Toolset> | undefined;
  const load = () => {
    loading ??= typeof tools === "function" ? tools() : Promise.resolve(tools);
    return loading;
  };
  // Sessions share the tools and may not close them.
  const borrow = async (): Promise<Toolset> => ({ ...(await load()), close: () => Promise.resolve() });
  const served: ServeOptions = {
    ...options,
    onError,
    // A root is a path on the client's machine: from elsewhere it says nothing about this one.
    ...(!settings.loopback && { directory: options.directory ?? process.cwd() }),
  };
  const makeHandlers = () => limitCalls(createMcpHandlers(borrow, served), settings.maxCalls);

  const both = { ...sdk, ...bind };
  const sessions = createSessions(both, settings, makeHandlers, onError, options.clock ?? { now: Date.now });
  const stateless = new Map<number, Stateless>();
  const statelessOf = (token: number): Stateless => {
    const known = stateless.get(token) ?? createStateless(both, makeHandlers(), onError);
    stateless.set(token, known);
    return known;
  };

  const gatekeeper = createGatekeeper(settings, tokens);
  const told = new Map<string, number>();
  /** A line for the log, each kind at most once a minute: a flood of bad requests is no flood of lines. */
  const tell = ({ status, message }: Refusal) => {
    const last = told.get(message);
    if (last !== undefined && performance.now() - last < 60_000) return;
    told.set(message, performance.now());
    onError(new Error(`a request was refused (${status}): ${message}`));
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const checked = gatekeeper(request);
    const refuse = (refusal: Refusal, extra: Record<string, string> = {}) => {
      tell(refusal);
      sendRefusal(refusal, response, extra);
      if (refusal.headers?.connection === "close") response.once("finish", () => request.destroy());
    };
    if (checked.kind === "refused") return refuse(checked.refusal);
    if (checked.kind === "preflight") return sendPreflight(request, response);
    const cors = corsHeaders(request);
    const body = await readBody(request);
    if (body.kind === "too large") return refuse(tooLarge, cors);
    if (body.kind === "broken") return refuse({ status: 400, message: "the body is no JSON" }, cors);
    const web = toWebRequest(request, response);
    const value = body.kind === "json" ? body.value : undefined;
    const legacy = await sdk.isLegacyRequest(web, value);
    const reply = await (legacy
      ? sessions.handle(web, value, checked.token)
      : statelessOf(checked.token).handle(web, value));
    await sendResponse(reply, response, cors);
  };

  const server = createServer({ headersTimeout, requestTimeout, connectionsCheckingInterval: 2_000 });
  server.maxConnections = 1_024;
  server.on("request", (request, response) => {
    answer(request, response).catch((error: unknown) => {
      // Whoever hangs up in the middle of a request is gone, and nothing ran.
      if (request.errored !== null || response.destroyed) return;
      onError(error instanceof Error ? error : new Error(String(error)));
      if (!response.headersSent) sendRefusal({ status: 500, message: "internal error" }, response, {});
      else response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) =>
      reject(
        new Error(`cannot listen on ${settings.host}:${settings.port}: ${cause.code ?? cause.message}`, { cause }),
      ),
    );
    server.listen(settings.port, settings.host, resolve);
  });
  server.on("error", onError);

  let closing: Promise<void> | undefined;
  const closed = new Promise<void>((resolve) => server.once("close", resolve));
  const { port, family, address } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}${mcpPath}`,
    token: made,
    closed: closed.then(() => closing),
    close() {
      closing ??= (async () => {
        server.close();
        await Promise.all([sessions.close(), ...[...stateless.values()].map((each) => each.close())]);
        server.closeAllConnections();
        const loaded = await loading?.catch(() => undefined);
        await loaded?.close();
      })();
      return closing;
    },
  };
}
