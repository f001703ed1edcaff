import { type ClientRequest, type IncomingMessage, request } from "node:http";

export interface RawAnswer {
  status: number;
  headers: IncomingMessage["headers"];
  text: string;
}

export interface RawRequest {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  /** A text, or what writes the body piece by piece. */
  body?: string | ((request: ClientRequest) => void);
}

/** One request as nobody's library would send it. */
export function rawRequest(url: string, { method = "POST", path, headers = {}, body }: RawRequest): Promise<RawAnswer> {
  const { hostname, port, pathname, host } = new URL(url);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname: hostname.replace(/^\[|\]$/g, ""),
        port,
        path: path ?? pathname,
        method,
        setHost: false,
        agent: false,
        headers: { host, ...headers },
      },
      (incoming) => {
        let text = "";
        incoming.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        const end = () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
        incoming.on("end", end).on("error", end);
      },
    );
    outgoing.on("error", reject);
    if (typeof body === "function") body(outgoing);
    else outgoing.end(body);
  });
}

/** The headers of a client that may. */
export function goodHeaders(token: string | undefined, more: Record<string, string> = {}): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...more,
  };
}

/** `initialize` of a 2025 client, as JSON. */
export const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
});

/** A call of a 2025 client, as JSON. */
export function callBody(name: string, input: object, id: number | string = 2): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: input } });
}
