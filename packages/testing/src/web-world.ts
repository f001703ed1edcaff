import { createSocket } from "node:dgram";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { type Certificate, createAuthority } from "./certificates.ts";
import { type DnsServer, startDnsServer, type ZoneEntry } from "./dns-server.ts";

export { type Authority, type Certificate, createAuthority } from "./certificates.ts";
export { type DnsServer, startDnsServer, type ZoneEntry } from "./dns-server.ts";

export type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => unknown;

export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
}

/** A server that nobody may reach: it records every connection, TCP and UDP. */
export interface PrivateServer {
  port: number;
  connections: string[];
  close(): Promise<void>;
}

/** Public servers, a DNS server and a private recorder, all on loopback. */
export interface WebWorld {
  dns: DnsServer;
  private: PrivateServer;
  /** What the public server was asked, in order. */
  seen: SeenRequest[];
  /** Answers for `http(s)://host[:port]/path`, without query; `host/*` for all paths of a host. */
  on(place: string, handler: Handler | string): void;
  /** A name whose connections are given to a function as they are. */
  raw(name: string, onSocket: (socket: Socket) => void): Promise<void>;
  /** Maps public addresses to the servers of this world, after the policy has checked them; all others reach the recorder. */
  dial(target: { address: string; port: number }, signal: AbortSignal): Promise<Socket>;
  /** Every address that was dialled, in order. */
  dialled: string[];
  /** Loopback ports that `dial` really connects to. */
  open: Set<number>;
  /** Sockets of the public server that are open now. */
  sockets: Set<Socket>;
  /** The authority behind its https certificates. */
  ca: string;
  close(): Promise<void>;
}

export interface WebWorldOptions {
  zone?: Iterable<readonly [string, ZoneEntry]>;
  /** Names on the certificate of the https server; without it there is none. */
  secure?: readonly string[];
}

/** Addresses that lead to the public server, beside the documentation blocks. */
const publicLiterals = new Set([
  "93.184.216.34",
  "172.32.0.1",
  "8.8.8.8",
  "2001:4860:4860::8888",
  "64:ff9b::808:808",
  "198.18.0.7",
]);
const publicBlocks = /^(?:203\.0\.113|198\.51\.100|192\.0\.2)\./;
/** Nobody answers here. */
export const deadAddress = "203.0.113.9";
export const publicAddress = "203.0.113.10";
/** What a client must be told so that names of this world pass: `resolvedRanges`. */
export const documentationRanges: readonly string[] = ["203.0.113.0/24", "198.51.100.0/24", "192.0.2.0/24"];

function listen(server: Server, port = 0, host = "127.0.0.1"): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}

async function startPrivate(): Promise<PrivateServer> {
  const connections: string[] = [];
  const sockets = new Set<Socket>();
  const record = (socket: Socket): void => {
    connections.push(`tcp ${socket.localAddress}`);
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nprivate");
  };
  const v4 = createTcpServer(record);
  const v6 = createTcpServer(record);
  const udp = createSocket("udp4");
  const port = await listen(v4);
  await listen(v6, port, "::1").catch(() => 0);
  udp.on("message", () => connections.push("udp"));
  await new Promise<void>((resolve) => udp.bind(port, "127.0.0.1", resolve));
  return {
    port,
    connections,
    async close() {
      for (const socket of sockets) socket.destroy();
      udp.close();
      await Promise.all([v4, v6].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function reply(handler: Handler | string, request: IncomingMessage, response: ServerResponse, url: URL): unknown {
  if (typeof handler !== "string") return handler(request, response, url);
  response.setHeader(
    "content-type",
    handler.trimStart().startsWith("<") ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
  );
  return response.end(handler);
}

/** Starts everything; names below `.pub` lead to the public server unless the zone says otherwise. */
export async function startWebWorld(options: WebWorldOptions = {}): Promise<WebWorld> {
  const dns = await startDnsServer([["*.pub", [publicAddress]], ...(options.zone ?? [])]);
  const recorder = await startPrivate();
  const routes = new Map<string, Handler | string>();
  const rawPorts = new Map<string, number>();
  const rawServers: Server[] = [];
  const seen: SeenRequest[] = [];
  const dialled: string[] = [];
  const open = new Set<number>();
  const sockets = new Set<Socket>();
  let nextRaw = 20;

  const listener =
    (scheme: "http" | "https"): RequestListener =>
    (request, response) => {
      const url = new URL(request.url ?? "/", `${scheme}://${request.headers.host ?? "nobody.pub"}`);
      seen.push({ method: request.method ?? "", url: url.href, headers: request.headers });
      const handler =
        routes.get(url.origin + url.pathname) ?? routes.get(`${url.origin}/*`) ?? routes.get(`${url.hostname}/*`);
      if (handler !== undefined) reply(handler, request, response, url);
      else response.writeHead(404, { "content-type": "text/plain" }).end("no such page");
    };
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
  };
  const plain = createServer(listener("http"));
  plain.on("connection", keep);
  const httpPort = await listen(plain);
  let certificate: Certificate | undefined;
  let ca = "";
  if (options.secure !== undefined) {
    const authority = await createAuthority();
    ca = authority.ca;
    certificate = await authority.issue(options.secure);
  }
  const secure = certificate === undefined ? undefined : createTlsServer(certificate, listener("https"));
  secure?.on("connection", keep);
  const httpsPort = secure === undefined ? recorder.port : await listen(secure);

  function portFor(address: string, port: number): number {
    const raw = rawPorts.get(address);
    if (raw !== undefined) return raw;
    if (publicBlocks.test(address) || publicLiterals.has(address)) return port === 443 ? httpsPort : httpPort;
    return open.has(port) && (address === "127.0.0.1" || address === "::1") ? port : recorder.port;
  }

  return {
    dns,
    private: recorder,
    seen,
    dialled,
    open,
    sockets,
    ca,
    on: (place, handler) => void routes.set(place, handler),
    async raw(name, onSocket) {
      const address = `198.51.100.${nextRaw}`;
      nextRaw += 1;
      const server = createTcpServer((socket) => {
        keep(socket);
        onSocket(socket);
        // A socket that nobody reads would never see its other end close.
        socket.resume();
      });
      rawServers.push(server);
      rawPorts.set(address, await listen(server));
      dns.zone.set(name, [address]);
    },
    dial: ({ address, port }, signal) =>
      new Promise((resolve, reject) => {
        dialled.push(address);
        if (signal.aborted) return reject(signal.reason);
        if (address === deadAddress)
          return signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        const socket = connect(portFor(address, port), "127.0.0.1");
        socket.once("connect", () => resolve(socket));
        socket.once("error", reject);
        signal.addEventListener("abort", () => socket.connecting && socket.destroy(), { once: true });
      }),
    async close() {
      for (const socket of sockets) socket.destroy();
      const servers = [plain, ...(secure === undefined ? [] : [secure]), ...rawServers];
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      await recorder.close();
      await dns.close();
    },
  };
}
