import { randomUUID } from "node:crypto";
import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { Clock } from "@toolhaft/core";
import type { McpHandlers } from "../types.ts";
import type { HttpSettings } from "./options.ts";

type Sdk = Pick<typeof import("@modelcontextprotocol/server"), "WebStandardStreamableHTTPServerTransport"> &
  Pick<typeof import("../bind-v2.ts"), "createServerV2">;

/** Sessions of the 2025 era: each `initialize` gets a server, a transport and handlers of its own. */
export interface Sessions {
  /** @param token Whose session it is: another token's is as good as none. */
  handle(request: Request, body: unknown, token: number): Promise<Response>;
  readonly size: number;
  close(): Promise<void>;
}

interface Session {
  token: number;
  transport: WebStandardStreamableHTTPServerTransport;
  /** Requests that have a stream of their own, which a cancel closes. */
  alone: Set<string | number>;
  /** Exchanges whose answer is not at its end. */
  open: number;
  lastSeen: number;
  end(): Promise<void>;
}

/** @param makeHandlers Makes one session's handlers; the tools behind them are shared and stay open. */
export function createSessions(
  sdk: Sdk,
  settings: HttpSettings,
  makeHandlers: () => McpHandlers,
  onError: (error: Error) => void,
  clock: Clock,
): Sessions {
  const sessions = new Map<string, Session>();
  /** On their way to the map: they count already. */
  let beginning = 0;
  const now = () => clock.now();
  const endIdle = () => {
    const oldest = now() - settings.idleMs;
    for (const session of sessions.values()) {
      if (session.open === 0 && session.lastSeen <= oldest) void session.end();
    }
  };
  const timer = setInterval(endIdle, Math.max(10, Math.min(60_000, settings.idleMs / 2)));
  timer.unref();

  /** Makes room by ending the session that nobody has used for longest, if there is one at rest. */
  const hasRoom = (): boolean => {
    if (sessions.size + beginning < settings.maxSessions) return true;
    const resting = [...sessions.values()].filter(({ open }) => open === 0);
    const oldest = resting.sort((a, b) => a.lastSeen - b.lastSeen)[0];
    if (oldest === undefined) return false;
    void oldest.end();
    return true;
  };

  const begin = async (token: number): Promise<Session> => {
    const handlers = makeHandlers();
    const server = sdk.createServerV2(handlers, "legacy", { rootsWithRequests: true });
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, session),
    });
    let ending: Promise<void> | undefined;
    const session: Session = {
      token,
      transport,
      alone: new Set(),
      open: 0,
      lastSeen: now(),
      end() {
        ending ??= (async () => {
          if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
          await server.close();
          await handlers.close();
        })().catch((error: unknown) => onError(error instanceof Error ? error : new Error(String(error))));
        return ending;
      },
    };
    await server.connect(transport);
    const closed = transport.onclose;
    transport.onclose = () => {
      closed?.();
      void session.end();
    };
    return session;
  };

  const serve = async (session: Session, request: Request, body: unknown): Promise<Response> => {
    session.lastSeen = now();
    session.open++;
    if (isMessage(body) && body.id !== undefined) session.alone.add(body.id);
    const answer = await session.transport
      .handleRequest(request, { parsedBody: body })
      .finally(() => void session.open--);
    // A cancelled request is never answered: without this its stream would stay open.
    const cancelled = cancelledId(body);
    if (cancelled !== undefined && session.alone.delete(cancelled)) session.transport.closeSSEStream(cancelled);
    if (answer.body === null) return answer;
    session.open++;
    return watched(answer, answer.body, () => {
      session.open--;
      session.lastSeen = now();
      if (isMessage(body) && body.id !== undefined) session.alone.delete(body.id);
    });
  };

  return {
    get size() {
      return sessions.size;
    },
    async handle(request, body, token) {
      const id = request.headers.get("mcp-session-id");
      if (id !== null) {
        const session = sessions.get(id);
        if (session === undefined || session.token !== token)
          return refusal(404, -32_001, "there is no such session: initialize a new one");
        return serve(session, request, body);
      }
      if (!isMessage(body) || body.method !== "initialize")
        return refusal(400, -32_000, "a session begins with initialize; send its Mcp-Session-Id afterwards");
      if (!hasRoom())
        return refusal(429, -32_000, `${settings.maxSessions} sessions are at work already: try again later`, {
          "retry-after": "10",
        });
      beginning++;
      try {
        const session = await begin(token);
        const answer = await serve(session, request, body);
        if (session.transport.sessionId === undefined) await session.end();
        return answer;
      } finally {
        beginning--;
      }
    },
    async close() {
      clearInterval(timer);
      await Promise.all([...sessions.values()].map((session) => session.end()));
    },
  };
}

/** The same answer, with word of when its body has ended or was given up. */
function watched(answer: Response, body: ReadableStream<Uint8Array>, ended: () => void): Response {
  let open = true;
  const once = () => {
    if (open) ended();
    open = false;
  };
  const reader = body.getReader();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) {
        once();
        controller.close();
      } else controller.enqueue(value);
    },
    async cancel(reason) {
      once();
      await reader.cancel(reason);
    },
  });
  return new Response(stream, { status: answer.status, headers: answer.headers });
}

function refusal(status: number, code: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status, headers });
}

interface Message {
  id?: string | number;
  method?: unknown;
  params?: unknown;
}

function isMessage(body: unknown): body is Message {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return false;
  return !("id" in body) || typeof body.id === "string" || typeof body.id === "number";
}

function cancelledId(body: unknown): string | number | undefined {
  if (!isMessage(body) || body.method !== "notifications/cancelled") return undefined;
  const { params } = body;
  if (typeof params !== "object" || params === null || !("requestId" in params)) return undefined;
  const { requestId } = params;
  return typeof requestId === "string" || typeof requestId === "number" ? requestId : undefined;
}
