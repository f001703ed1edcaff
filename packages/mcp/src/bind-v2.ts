import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  inputRequired,
  inputResponse,
  ProtocolError,
  // The low-level class is marked deprecated in favour of a high-level one that converts schemas by itself. Our JSON Schema
  // and our text go out as they are, so the low-level one is the right one here.
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { rootsAnswer } from "./roots.ts";
import { McpFault, type McpHandlers, type QuestionAnswer } from "./types.ts";

/** Names the one question of a round. */
const questionKey = "permission";
/** Another Toolhaft asks for more when it sees this. */
const capabilities = { tools: { listChanged: true }, resources: {}, experimental: { toolhaft: {} } };
/** Questions that one call may ask. */
const maxRounds = 32;

type Era = "legacy" | "modern";

/** What a 2026 request says of its sender; the SDK has checked it, its type is empty. */
interface Envelope {
  [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
  [CLIENT_INFO_META_KEY]?: { name: string };
}

export interface ServerV2Options {
  /** Whether it tells its client of changed lists itself. @default true */
  listensToChanges?: boolean;
  /** Over HTTP nothing reaches the client outside a request's own stream for sure: roots are asked for there. @default false */
  rootsWithRequests?: boolean;
}

/**
 * A server instance of the v2 SDK over one session's handlers. Every connection gets its own: shared instances give one
 * client's answers to another.
 */
export function createServerV2(handlers: McpHandlers, era: Era, options: ServerV2Options = {}): Server {
  const { listensToChanges = true, rootsWithRequests = false } = options;
  const { name, version, instructions, askTimeoutMs } = handlers;
  const server = new Server(
    { name, version },
    {
      capabilities,
      // The gate's own time-out answers first; the wire's is a little longer.
      inputRequired: { maxRounds, roundTimeoutMs: askTimeoutMs + 5_000 },
      ...(instructions !== undefined && { instructions }),
    },
  );
  server.onerror = (error) => handlers.onError(error);

  const envelopeOf = (context: ServerContext) => context.mcpReq.envelope as Envelope | undefined;
  const capabilitiesOf = (context: ServerContext) =>
    era === "modern" ? envelopeOf(context)?.[CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities();
  const clientOf = (context: ServerContext) =>
    (era === "modern" ? envelopeOf(context)?.[CLIENT_INFO_META_KEY] : server.getClientVersion())?.name;

  const roots = era === "legacy" ? followRoots(server, handlers, rootsWithRequests) : undefined;

  server.setRequestHandler("tools/list", ({ params }, context) => {
    roots?.askWith(context);
    return faults(() => handlers.list({ cursor: params?.cursor, client: clientOf(context) }));
  });
  server.setRequestHandler("tools/call", ({ params }, context) =>
    faults(async () => {
      const { mcpReq } = context;
      roots?.askWith(context);
      const state = mcpReq.requestState();
      const reply = await handlers.call({
        name: params.name,
        arguments: params.arguments ?? {},
        meta: mcpReq._meta,
        signal: signalOf(context),
        client: clientOf(context),
        notify: (progress) => mcpReq.notify({ method: "notifications/progress", params: progress }),
        ask: canAsk(capabilitiesOf(context)) ? "park" : undefined,
        // Over HTTP the 2026 era knows no sessions.
        remembers: era === "legacy" || context.http === undefined,
        staysOpen: era === "legacy",
        resume: typeof state === "string" ? { state, answer: answerOf(mcpReq.inputResponses) } : undefined,
      });
      if (reply.kind === "result") return reply.result;
      return inputRequired({
        inputRequests: { [questionKey]: inputRequired.elicit({ ...reply.question, mode: "form" }) },
        requestState: reply.state,
      });
    }),
  );
  server.setRequestHandler("resources/list", () => ({ resources: handlers.listResources() }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", ({ params }) =>
    faults(async () => ({ contents: [contentsOf(await handlers.readResource(params.uri))] })),
  );

  if (listensToChanges) {
    const stop = handlers.onListChanged(() => {
      server.sendToolListChanged().catch(handlers.onError);
    });
    server.onclose = stop;
  }
  return server;
}

/**
 * Clients of the 2025 era that have roots are asked once, and again when they say that these changed: at once, or along
 * with the next request.
 */
function followRoots(server: Server, handlers: McpHandlers, withRequests: boolean) {
  let due = false;
  const hasRoots = () => server.getClientCapabilities()?.roots !== undefined;
  const follow = (answer: Promise<string[]>) => void handlers.awaitRoots(answer);
  const ask = () => {
    if (!hasRoots()) return;
    if (withRequests) due = true;
    else follow(server.request({ method: "roots/list" }, rootsAnswer));
  };
  server.oninitialized = () => {
    ask();
    handlers.warm();
  };
  server.setNotificationHandler("notifications/roots/list_changed", ask);
  return {
    askWith({ mcpReq }: ServerContext) {
      if (!due) return;
      due = false;
      follow(mcpReq.send({ method: "roots/list" }, rootsAnswer));
    },
  };
}

/** Over HTTP a client may go away without a word: its stream ends, and with it the call. */
function signalOf({ mcpReq, http }: ServerContext): AbortSignal {
  return http?.req === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, http.req.signal]);
}

/** A bare `elicitation: {}` means forms; one that names only `url` has none. */
function canAsk(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function answerOf(responses: Record<string, unknown> | undefined): QuestionAnswer | undefined {
  const response = inputResponse(responses, questionKey);
  return response.kind === "elicit" ? { action: response.action, content: response.content } : undefined;
}

function contentsOf({ uri, mimeType, text, blob, _meta }: Awaited<ReturnType<McpHandlers["readResource"]>>) {
  return blob === undefined
    ? { uri, mimeType, text: text ?? "", ...(_meta && { _meta }) }
    : { uri, mimeType, blob, ...(_meta && { _meta }) };
}

/** Our faults in the SDK's own kind of error. */
async function faults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof McpFault ? new ProtocolError(error.code, error.message) : error;
  }
}
