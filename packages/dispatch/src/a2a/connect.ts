import type { AgentCard, Task } from "@a2a-js/sdk";
import type { AgentCardResolver, Client } from "@a2a-js/sdk/client";
import type { A2aRunnerOptions } from "../a2a.ts";
import type { RunOutcome, RunRequest } from "../runner.ts";
import { type Http, netHttp, withHeaders } from "./fetch.ts";
import { cannotReach } from "./follow.ts";

/** The parts of the protocol's library that are used, loaded with the first run. */
export interface Sdk {
  TaskState: typeof import("@a2a-js/sdk").TaskState;
  Role: typeof import("@a2a-js/sdk").Role;
  client: typeof import("@a2a-js/sdk/client");
  errors: typeof import("@a2a-js/sdk/errors");
}

/** A way to one agent, for one run. */
export interface Connection extends AsyncDisposable {
  readonly sdk: Sdk;
  readonly client: Client;
  readonly streams: boolean;
  /** The task as the agent has it now; nothing where it knows none. @throws what the connection says */
  find(taskId: string, signal: AbortSignal): Promise<Task | undefined>;
}

/** Opens connections to the agent of the options; one HTTP client serves all runs at a time and ends with the last. */
export function connector(options: A2aRunnerOptions) {
  const http = sharedHttp(options);
  return async (_request: RunRequest, signal: AbortSignal): Promise<Connection | { outcome: RunOutcome }> => {
    const sdk = await loadSdk();
    if (sdk === undefined) {
      const message = "the package @a2a-js/sdk is missing; install it: npm install @a2a-js/sdk";
      return { outcome: { kind: "failed", message, retryable: false, reason: "runner_unavailable" } };
    }
    const taken = await http.take();
    try {
      const { client, card } = await clientOf(sdk, options, taken.fetch, signal);
      return {
        sdk,
        client,
        streams: card.capabilities?.streaming === true,
        async find(taskId, stop) {
          try {
            return await client.getTask({ tenant: "", id: taskId }, { signal: stop });
          } catch (error) {
            if (error instanceof sdk.errors.TaskNotFoundError) return undefined;
            throw error;
          }
        },
        [Symbol.asyncDispose]: () => http.give(),
      };
    } catch (error) {
      await http.give();
      return { outcome: cannotReach(error, signal) };
    }
  };
}

async function clientOf(
  sdk: Sdk,
  { card, headers }: A2aRunnerOptions,
  base: typeof fetch,
  signal: AbortSignal,
): Promise<{ client: Client; card: AgentCard }> {
  const { ClientFactory, JsonRpcTransportFactory, RestTransportFactory, DefaultAgentCardResolver } = sdk.client;
  const address = typeof card === "string" || card instanceof URL ? new URL(card) : undefined;
  const given = address === undefined ? (card as AgentCard) : undefined;
  const origin = () => address?.origin ?? originOf(given);
  const send = headers === undefined ? base : withHeaders(base, origin, async () => await read(headers));
  const stoppable: typeof fetch = (input, init) => send(input, { ...init, signal: init?.signal ?? signal });
  // Agents of the protocol's earlier version answer, too.
  const transport = { fetchImpl: stoppable, legacyCompat: { enabled: true } };
  const cardResolver = new DefaultAgentCardResolver({ fetchImpl: stoppable, legacyCompat: { enabled: true } });
  const found = given ?? (await cardAt(cardResolver, address));
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(transport), new RestTransportFactory(transport)],
    clientConfig: { polling: true },
    cardResolver,
  });
  return { client: await factory.createFromAgentCard(found), card: found };
}

/** An address that ends in `.json` is the card's own; below any other it stands where the protocol says. */
function cardAt(resolver: AgentCardResolver, address: URL | undefined): Promise<AgentCard> {
  const { href = "", pathname = "" } = address ?? {};
  return pathname.endsWith(".json") ? resolver.resolve(href, "") : resolver.resolve(href);
}

function originOf(card: AgentCard | undefined): string | undefined {
  const url = card?.supportedInterfaces[0]?.url;
  return url === undefined || !URL.canParse(url) ? undefined : new URL(url).origin;
}

async function read(headers: NonNullable<A2aRunnerOptions["headers"]>): Promise<Readonly<Record<string, string>>> {
  return typeof headers === "function" ? await headers() : headers;
}

function sharedHttp({ fetch: given, net }: A2aRunnerOptions): { take(): Promise<Http>; give(): Promise<void> } {
  let http: Promise<Http> | undefined;
  let users = 0;
  return {
    take() {
      users += 1;
      http ??= given === undefined ? netHttp(net) : Promise.resolve({ fetch: given, async [Symbol.asyncDispose]() {} });
      return http;
    },
    async give() {
      users -= 1;
      if (users > 0) return;
      const last = http;
      http = undefined;
      await (await last)?.[Symbol.asyncDispose]();
    },
  };
}

async function loadSdk(): Promise<Sdk | undefined> {
  try {
    const [{ TaskState, Role }, client, errors] = await Promise.all([
      import("@a2a-js/sdk"),
      import("@a2a-js/sdk/client"),
      import("@a2a-js/sdk/errors"),
    ]);
    return { TaskState, Role, client, errors };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
