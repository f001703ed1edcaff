import { request as httpRequest } from "node:http";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { ToolError } from "@toolhaft/core";
import { addressWithin, isCidr, parseCidr } from "./address.ts";
import { type Deadline, underSignal } from "./deadline.ts";
import type { NetOptions } from "./types.ts";
import type { ParsedUrl } from "./url.ts";

/** The proxy that one request goes through. */
export interface ChosenProxy {
  /** Headers for the proxy on requests that it forwards. */
  headers: Readonly<Record<string, string>>;
  dial(deadline: Deadline): Promise<Socket>;
  /** Asks the proxy for a tunnel over the socket. */
  connect(socket: Socket, target: ParsedUrl, deadline: Deadline): Promise<Socket>;
}

export interface OutgoingProxy {
  choose(target: ParsedUrl): ChosenProxy | undefined;
  /** The environment names a proxy that the options do not use. */
  unused: boolean;
}

interface Settings {
  http: string | undefined;
  https: string | undefined;
  noProxy: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

function fromEnvironment(env: Environment): Settings {
  const read = (name: string): string | undefined => env[name.toLowerCase()] || env[name] || undefined;
  const all = read("ALL_PROXY");
  // In a CGI program HTTP_PROXY is the client's "Proxy" header (CVE-2016-5385).
  const http = env.REQUEST_METHOD === undefined ? read("HTTP_PROXY") : env.http_proxy || undefined;
  return { http: http ?? all, https: read("HTTPS_PROXY") ?? all, noProxy: splitList(read("NO_PROXY") ?? "") };
}

const splitList = (text: string): string[] => text.split(/[\s,]+/).filter((entry) => entry !== "");

/** `*`, a host and everything below it, `.host`, `host:port`, an address, a CIDR block. */
export function bypasses(entry: string, target: ParsedUrl): boolean {
  const lower = entry.toLowerCase();
  if (lower === "*") return true;
  if (isCidr(lower)) return target.isAddress && addressWithin(target.host, parseCidr(lower));
  const [, name, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(lower) ?? [undefined, lower, undefined];
  if (port !== undefined && Number(port) !== target.port) return false;
  const host = (name ?? "").replace(/^\[|\]$/g, "").replace(/^\*?\./, "");
  return host !== "" && (target.host === host || (!target.isAddress && target.host.endsWith(`.${host}`)));
}

function refusedByProxy(status: number, reason: string): ToolError {
  return new ToolError("upstream", `refused by the proxy, not by the site (status ${status}${reason})`, {
    hint: status === 407 ? "put the proxy's user name and password into its URL" : "ask who runs the proxy",
    details: { proxyStatus: status },
  });
}

/** Whether an answer to a forwarded request comes from the proxy itself. */
export function proxyRefusal(
  status: number,
  headers: ReadonlyMap<string, string>,
  proxyHost: string,
): ToolError | undefined {
  const reason = headers.get("x-deny-reason");
  const own = reason !== undefined || (headers.get("via") ?? "").toLowerCase().includes(proxyHost);
  if (status !== 407 && !(status === 403 && own)) return undefined;
  return refusedByProxy(status, reason === undefined ? "" : `, ${reason.slice(0, 100)}`);
}

function choose(text: string): ChosenProxy & { host: string } {
  const url = new URL(text.includes("://") ? text : `http://${text}`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TypeError(`options.net.proxy: ${url.protocol} proxies are not supported, only http: and https:`);
  }
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const headers: Record<string, string> =
    login === ":" ? {} : { "proxy-authorization": `Basic ${Buffer.from(login).toString("base64")}` };

  async function dial(deadline: Deadline): Promise<Socket> {
    const socket =
      url.protocol === "https:"
        ? (await import("node:tls")).connect({
            host,
            port,
            servername: isIP(host) === 0 ? host : "",
            rejectUnauthorized: true,
          })
        : connectTcp({ host, port });
    const ready = new Promise<Socket>((resolve, reject) => {
      socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => resolve(socket));
      socket.once("error", reject);
    });
    try {
      return await underSignal(ready, deadline.signal);
    } catch (error) {
      socket.on("error", () => undefined).destroy();
      deadline.throwIfEnded();
      throw new ToolError("upstream", `no connection to the proxy ${url.host}`, { cause: error });
    }
  }

  async function connect(socket: Socket, target: ParsedUrl, deadline: Deadline): Promise<Socket> {
    const authority = `${target.url.hostname}:${target.port}`;
    const asked = httpRequest({
      method: "CONNECT",
      path: authority,
      headers: { ...headers, host: authority },
      createConnection: () => socket,
    });
    const answered = new Promise<Socket>((resolve, reject) => {
      asked.once("connect", (response, tunnel: Socket, head: Buffer) => {
        if (head.length > 0) tunnel.unshift(head);
        const reason = response.headers["x-deny-reason"];
        if (response.statusCode === 200) return resolve(tunnel);
        reject(
          refusedByProxy(response.statusCode ?? 0, reason === undefined ? "" : `, ${String(reason).slice(0, 100)}`),
        );
      });
      asked.once("response", (response) => reject(refusedByProxy(response.statusCode ?? 0, "")));
      asked.once("error", reject);
    });
    asked.end();
    try {
      return await underSignal(answered, deadline.signal);
    } catch (error) {
      socket.on("error", () => undefined).destroy();
      deadline.throwIfEnded();
      if (error instanceof ToolError) throw error;
      throw new ToolError("upstream", `the proxy ${url.host} gave no tunnel to ${authority}`, { cause: error });
    }
  }

  return { host, headers, dial, connect };
}

/** @throws TypeError when the proxy's URL cannot be used */
export function createOutgoingProxy(
  option: NetOptions["proxy"],
  env: Environment = process.env,
): OutgoingProxy & { host: string } {
  const environment = fromEnvironment(env);
  if (option === undefined || option === "none") {
    return {
      choose: () => undefined,
      host: "",
      unused: environment.http !== undefined || environment.https !== undefined,
    };
  }
  const settings: Settings =
    option === "environment" ? environment : { http: option.url, https: option.url, noProxy: option.noProxy ?? [] };
  const http = settings.http === undefined ? undefined : choose(settings.http);
  const https = settings.https === undefined ? undefined : choose(settings.https);
  return {
    unused: false,
    host: http?.host ?? "",
    choose: (target) =>
      settings.noProxy.some((entry) => bypasses(entry, target))
        ? undefined
        : target.url.protocol === "https:"
          ? https
          : http,
  };
}
