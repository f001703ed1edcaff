import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { maxBodyBytes, type Refusal } from "./checks.ts";

/** What came as a body. */
export type Body = { kind: "json"; value: unknown } | { kind: "none" } | { kind: "broken" } | { kind: "too large" };

/** Reads at most {@link maxBodyBytes}; a longer or endless body is left unread. */
export async function readBody(request: IncomingMessage): Promise<Body> {
  if (request.method !== "POST") return { kind: "none" };
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > maxBodyBytes) return { kind: "too large" };
    chunks.push(piece);
  }
  try {
    const value: unknown = JSON.parse(
      Buffer.concat(chunks)
        .toString("utf8")
        .replace(/^\uFEFF/, ""),
    );
    return { kind: "json", value };
  } catch {
    return { kind: "broken" };
  }
}

/** The request as the SDK takes it, without its body; its signal fires when the client goes away before the answer's end. */
export function toWebRequest(request: IncomingMessage, response: ServerResponse): Request {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort(new Error("the client closed the connection"));
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const each of [value ?? []].flat()) headers.append(name, each);
  }
  return new Request(`http://${request.headers.host ?? "localhost"}${request.url ?? "/"}`, {
    method: request.method ?? "GET",
    headers,
    signal: gone.signal,
  });
}

/** Writes the SDK's answer. When the client goes away the answer's stream is cancelled at once. */
export async function sendResponse(
  answer: Response,
  response: ServerResponse,
  extra: Record<string, string>,
): Promise<void> {
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...extra });
  if (answer.body === null) {
    response.end();
    return;
  }
  // An event stream without events has to show its head, too.
  response.flushHeaders();
  try {
    await pipeline(Readable.fromWeb(answer.body as import("node:stream/web").ReadableStream), response);
  } catch (error) {
    // A client that went away is no fault of ours; what ran for it was told by the request's signal.
    if (!response.destroyed) throw error;
  }
}

/** A refusal as a JSON-RPC error without an id: nothing of the request was read. */
export function sendRefusal(
  { status, message, headers }: Refusal,
  response: ServerResponse,
  extra: Record<string, string>,
): void {
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } });
  response.writeHead(status, { "content-type": "application/json", ...headers, ...extra });
  response.end(body);
}

/** What a browser needs of an allowed page; empty without one. */
export function corsHeaders({ headers }: IncomingMessage): Record<string, string> {
  if (headers.origin === undefined) return {};
  return {
    "access-control-allow-origin": headers.origin,
    "access-control-expose-headers": "mcp-session-id, www-authenticate",
    vary: "origin",
  };
}

export function sendPreflight(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204, {
    ...corsHeaders(request),
    "access-control-allow-methods": "GET, POST, DELETE",
    "access-control-allow-headers":
      "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name",
    "access-control-max-age": "600",
  });
  response.end();
}
