import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ToolError } from "@toolhaft/core";
import type { Connector } from "./connect.ts";
import { startDeadline } from "./deadline.ts";
import type { AddressPolicy } from "./policy.ts";
import type { FilteringProxy, NetScope, ProxyOptions } from "./types.ts";
import { gateResource, type ParsedUrl } from "./url.ts";

const defaultMaxBytes = 200 * 1024 * 1024;
const maxOrigins = 40;
const connectMs = 15_000;

/** Headers that belong to one connection and are not passed on. */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

export interface ProxyParts {
  connector: Connector;
  policy: AddressPolicy;
  scope: NetScope;
  onClose(proxy: FilteringProxy): void;
}

/**
 * A proxy on loopback, behind a random password, that connects only to checked and pinned addresses. It does not look into TLS.
 * A browser whose every byte goes through it can reach no other place.
 */
export async function openFilteringProxy(parts: ProxyParts, options: ProxyOptions): Promise<FilteringProxy> {
  const { connector, policy, scope } = parts;
  const username = "toolhaft";
  const password = randomBytes(18).toString("base64url");
  const expected = Buffer.from(`Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`);
  const maxBytes = options.maxBytes ?? defaultMaxBytes;
  const ports = new Set([80, 443, ...(options.ports ?? [])]);
  const sockets = new Set<Duplex>();
  const asked = new Map<string, Promise<void>>();
  const reported = new Set<string>();
  const stop = new AbortController();
  let moved = 0;

  function knows(given: string | undefined): boolean {
    const bytes = Buffer.from(given ?? "");
    return bytes.length === expected.length && timingSafeEqual(bytes, expected);
  }

  function keep<T extends Duplex>(socket: T): T {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
    return socket;
  }

  function count(chunk: Uint8Array): void {
    moved += chunk.length;
    if (moved > maxBytes) for (const socket of sockets) socket.destroy();
  }

  /** One question per origin; a page with very many origins gets no answer for the last ones. */
  async function gate(target: ParsedUrl): Promise<void> {
    const { origin } = target.url;
    let answer = asked.get(origin);
    if (answer === undefined) {
      if (asked.size >= maxOrigins)
        throw new ToolError("denied", `more than ${maxOrigins} origins`, { details: { rule: "origins" } });
      const resource = gateResource({ ...target, url: new URL("/", target.url) });
      answer =
        scope.ask === undefined
          ? Promise.resolve()
          : scope.ask({ permission: "net.fetch", resources: [resource], reason: `load ${origin}` });
      asked.set(origin, answer);
    }
    await answer;
  }

  function report(origin: string, error: unknown): void {
    if (!(error instanceof ToolError) || error.code !== "denied") {
      options.onFailed?.(origin, error instanceof Error ? error : new Error(String(error)));
      return;
    }
    const rule = typeof error.details?.rule === "string" ? error.details.rule : "gate";
    if (reported.has(`${origin} ${rule}`)) return;
    reported.add(`${origin} ${rule}`);
    options.onBlocked?.({ origin, rule });
  }

  /** Checks a place and connects to it. */
  async function reach(url: string): Promise<Socket> {
    let origin = URL.canParse(url) ? new URL(url).origin : url.slice(0, 200);
    try {
      const target = policy.check(url);
      origin = target.url.origin;
      if (!ports.has(target.port) && !policy.opensPort(target)) {
        throw new ToolError("denied", `port ${target.port}`, { details: { rule: "port" } });
      }
      await gate(target);
      const deadline = startDeadline(connectMs, stop.signal, "the connection");
      try {
        return keep((await connector.tunnel(target, deadline)).socket);
      } finally {
        deadline.clear();
      }
    } catch (error) {
      report(origin, error);
      throw error;
    }
  }

  const statusOf = (error: unknown): number => (error instanceof ToolError && error.code === "denied" ? 403 : 502);

  async function plain(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!knows(request.headers["proxy-authorization"])) {
      response.writeHead(407, { "proxy-authenticate": 'Basic realm="toolhaft"', connection: "close" }).end();
      return;
    }
    const url = request.url ?? "";
    if (!/^http:\/\//i.test(url)) {
      response.writeHead(400, { connection: "close" }).end();
      return;
    }
    const socket = await reach(url);
    const { host, pathname, search } = new URL(url);
    const listed = (request.headers.connection ?? "").toLowerCase().split(/\s*,\s*/);
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(request.headers)) {
      if (value !== undefined && !hopByHop.has(name) && !listed.includes(name)) headers[name] = value;
    }
    const passed = httpRequest({
      method: request.method,
      path: pathname + search,
      headers: { ...headers, host, connection: "close" },
      createConnection: () => socket,
    });
    passed.on("error", () =>
      response.headersSent ? response.destroy() : response.writeHead(502, { connection: "close" }).end(),
    );
    passed.on("response", (answer) => {
      const back = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !hopByHop.has(name)));
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, back);
      answer.on("data", count);
      answer.on("error", () => response.destroy());
      answer.pipe(response);
    });
    response.once("close", () => socket.destroy());
    request.on("data", count);
    request.pipe(passed);
  }

  async function tunnel(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    keep(client);
    if (!knows(request.headers["proxy-authorization"])) {
      client.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="toolhaft"\r\nConnection: close\r\n\r\n',
      );
      return;
    }
    try {
      const authority = request.url ?? "";
      if (!/^[^/?#@\\]+:\d+$/.test(authority)) {
        const error = new ToolError("denied", "no authority", { details: { rule: "authority" } });
        report(authority.slice(0, 200), error);
        throw error;
      }
      const upstream = await reach(`${authority.endsWith(":80") ? "http" : "https"}://${authority}/`);
      if (client.destroyed) return void upstream.destroy();
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      if (head.length > 0) upstream.write(head);
      client.on("data", count);
      upstream.on("data", count);
      client.pipe(upstream).pipe(client);
      client.once("close", () => upstream.destroy());
      upstream.once("close", () => client.destroy());
    } catch (error) {
      client.end(`HTTP/1.1 ${statusOf(error)} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    }
  }

  const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    plain(request, response).catch((error) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(statusOf(error), { connection: "close" }).end();
    });
  });
  server.on("connection", keep);
  server.on("clientError", (_error, socket) => socket.destroy());
  server.on("upgrade", (_request, socket) => socket.destroy());
  server.on("connect", (request, socket, head) => {
    tunnel(request, socket, head).catch(() => socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  let ending: Promise<void> | undefined;
  const proxy: FilteringProxy = {
    server: `http://127.0.0.1:${port}`,
    username,
    password,
    bytes: () => moved,
    close() {
      ending ??= new Promise((resolve) => {
        scope.signal?.removeEventListener("abort", onAbort);
        stop.abort(new ToolError("cancelled", "the proxy was closed"));
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
        parts.onClose(proxy);
      });
      return ending;
    },
  };
  const onAbort = (): void => void proxy.close();
  if (scope.signal?.aborted === true) await proxy.close();
  else scope.signal?.addEventListener("abort", onAbort, { once: true });
  return proxy;
}
