import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type HttpSettings, parseHost } from "./options.ts";

export const maxBodyBytes = 4 * 1_024 * 1_024;
export const mcpPath = "/mcp";

/** Why a request goes no further; sent as it is. */
export interface Refusal {
  status: number;
  /** For the client and the log; holds nothing that the request brought. */
  message: string;
  headers?: Record<string, string>;
}

export type Checked =
  | { kind: "refused"; refusal: Refusal }
  | { kind: "preflight" }
  /** `token` is the number of the token that was shown, 0 where none is asked for. */
  | { kind: "passed"; token: number };

export type Gatekeeper = (request: IncomingMessage) => Checked;

/**
 * Everything that is looked at before a body is read, in this order: `Host`, `Origin`, token, path, method, media type,
 * declared length. A name that a web page made point here fails at the first.
 */
export function createGatekeeper(settings: HttpSettings, tokens: readonly string[]): Gatekeeper {
  const digests = tokens.map(digest);
  return (request) => {
    if (!hostIsAllowed(request, settings.allowedHosts)) return refused(403, "this Host is not allowed here");
    const { origin } = request.headers;
    if (origin !== undefined && !settings.allowedOrigins.has(origin))
      return refused(403, "this Origin is not allowed here");
    if (origin !== undefined && request.method === "OPTIONS") return { kind: "preflight" };
    const token = digests.length === 0 ? 0 : tokenOf(request, digests);
    if (token < 0) {
      const challenge = { "www-authenticate": 'Bearer realm="toolhaft"' };
      return refused(401, "a bearer token is needed: the server printed it at its start", challenge);
    }
    if (pathOf(request) !== mcpPath) return refused(404, `there is nothing here but ${mcpPath}`);
    if (!["GET", "POST", "DELETE"].includes(request.method ?? ""))
      return refused(405, "GET, POST and DELETE are served", { allow: "GET, POST, DELETE" });
    if (request.method === "POST" && !isJson(request.headers["content-type"]))
      return refused(415, "a body is application/json");
    if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) return { kind: "refused", refusal: tooLarge };
    return { kind: "passed", token };
  };
}

export const tooLarge: Refusal = {
  status: 413,
  message: `a body has at most ${maxBodyBytes} bytes`,
  headers: { connection: "close" },
};

function refused(status: number, message: string, headers?: Record<string, string>): Checked {
  return { kind: "refused", refusal: headers === undefined ? { status, message } : { status, message, headers } };
}

function hostIsAllowed({ rawHeaders, headers }: IncomingMessage, allowed: ReadonlySet<string>): boolean {
  // Node keeps the first of several and drops the rest; a proxy before us may have looked at another.
  const count = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length;
  const host = count === 1 ? parseHost(headers.host ?? "") : undefined;
  return host !== undefined && (allowed.has(host.name) || allowed.has(`${host.name}:${host.port ?? "80"}`));
}

/** The number of the token shown, or -1. Every known one is compared, in constant time. */
function tokenOf({ headers }: IncomingMessage, digests: readonly Buffer[]): number {
  const shown = /^Bearer +([\x21-\x7e]{1,4096})$/i.exec(headers.authorization ?? "")?.[1];
  const given = digest(shown ?? "");
  let found = -1;
  for (const [index, known] of digests.entries()) if (timingSafeEqual(known, given)) found = index;
  return shown === undefined ? -1 : found;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function pathOf({ url = "" }: IncomingMessage): string {
  const end = url.search(/[?#]/);
  return end < 0 ? url : url.slice(0, end);
}

function isJson(type: string | undefined): boolean {
  return /^application\/json\s*(;|$)/i.test(type ?? "");
}
