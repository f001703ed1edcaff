import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ProgressNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

/** The three kinds of client that meet our server: the v1 SDK, and the v2 SDK in both protocol eras. */
export const clientKinds = ["v1", "v2 in 2025", "v2 in 2026"] as const;
export type ClientKind = (typeof clientKinds)[number];

export interface Answer {
  action: "accept" | "decline" | "cancel";
  content?: Record<string, string>;
}

/** What carries the messages. */
export type Wire = "stdio" | "http";

export interface ClientOptions {
  /** @default "stdio" */
  wire?: Wire;
  name?: string;
  /** Given to the fixture server. */
  server?: Record<string, unknown>;
  cwd?: string;
  env?: Record<string, string>;
  /** Answers questions; without it the client cannot be asked. */
  elicit?: (message: string) => Answer | Promise<Answer>;
  roots?: () => string[];
}

/** What the model would get. */
export interface CallAnswer {
  text: string;
  isError: boolean;
  structured: unknown;
  content: { type: string; [key: string]: unknown }[];
  meta: Record<string, unknown> | undefined;
}

export interface TestClient {
  list(): Promise<
    { name: string; inputSchema: unknown; outputSchema?: unknown; annotations?: unknown; title?: string | undefined }[]
  >;
  call(name: string, input: Record<string, unknown>, options?: CallOptions): Promise<CallAnswer>;
  read(uri: string): Promise<{ text?: unknown; blob?: unknown; mimeType?: unknown }>;
  /** Progress notifications as they came over the wire, whatever their token. */
  progress: { progressToken: unknown; progress: number; message?: unknown }[];
  listChanges: () => number;
  /** Clients of 2026 hear of changed lists only after this; the others hear of them anyway. */
  subscribe(): Promise<void>;
  rootsChanged(): Promise<void>;
  instructions: string | undefined;
  stderr: () => string;
  errors: string[];
  pid: number | undefined;
  close(): Promise<void>;
}

export interface CallOptions {
  signal?: AbortSignal;
  onProgress?: (progress: number) => void;
  token?: string | number;
  meta?: Record<string, unknown>;
}

export const loader = fileURLToPath(new URL("../../testing/run/typescript-loader.mjs", import.meta.url));
export const fixtureServer = fileURLToPath(new URL("./fixtures/server.ts", import.meta.url));

/** The command that starts the fixture server from its sources. */
export function serverCommand(options: ClientOptions) {
  return {
    command: process.execPath,
    args: ["--import", loader, fixtureServer, JSON.stringify(options.server ?? {})],
    stderr: "pipe" as const,
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    env: {
      ...(process.env.PATH !== undefined && { PATH: process.env.PATH }),
      HOME: process.env.HOME ?? "/",
      ...options.env,
    },
  };
}

interface HttpServer {
  child: ChildProcess;
  url: URL;
  settings: { requestInit: { headers: Record<string, string> } };
}

/** The fixture server on HTTP, in a process of its own. */
async function startHttp(options: ClientOptions): Promise<HttpServer> {
  const { command, args, env, cwd } = serverCommand({ ...options, server: { ...options.server, http: {} } });
  const child = spawn(command, args, { env, stdio: ["ignore", "ignore", "pipe"], ...(cwd !== undefined && { cwd }) });
  let text = "";
  const found = await new Promise<RegExpExecArray>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk;
      const match = /^serving (\S+) (\S+)$/m.exec(text);
      if (match === null) return;
      child.stderr.off("data", read);
      resolve(match);
    };
    child.stderr.on("data", read);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${text}`)));
  });
  const headers = { authorization: `Bearer ${found[2]}` };
  return { child, url: new URL(found[1] ?? ""), settings: { requestInit: { headers } } };
}

async function end(client: { close(): Promise<void> }, transport: object, http: HttpServer | undefined): Promise<void> {
  if (http === undefined) return client.close();
  if ("terminateSession" in transport) await (transport as HttpV1 | HttpV2).terminateSession();
  await client.close();
  http.child.kill();
  await once(http.child, "exit");
}

export function connect(kind: ClientKind, options: ClientOptions = {}): Promise<TestClient> {
  return kind === "v1" ? connectV1(options) : connectV2(kind, options);
}

async function connectV1(options: ClientOptions): Promise<TestClient> {
  const { elicit, roots } = options;
  const http = options.wire === "http" ? await startHttp(options) : undefined;
  const transport = http === undefined ? new StdioV1(serverCommand(options)) : new HttpV1(http.url, http.settings);
  const client = new ClientV1(
    { name: options.name ?? "test-client", version: "1.0.0" },
    { capabilities: capabilities(options) },
  );
  if (elicit)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({ ...(await elicit(params.message)) }));
  if (roots) client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: roots().map((uri) => ({ uri })) }));
  const seen = collect(http?.child ?? (transport as Line));
  client.onerror = ({ message }) => void seen.errors.push(message);
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void seen.changes++);
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  watchProgress(transport, seen);
  return {
    ...face(seen, http?.child ?? (transport as Line)),
    instructions: client.getInstructions(),
    list: async () => (await client.listTools()).tools,
    async call(name, input, { signal, onProgress, token, meta } = {}) {
      const _meta = { ...meta, ...(token !== undefined && { progressToken: token }) };
      const result = await client.request(
        { method: "tools/call", params: { name, arguments: input, ...(Object.keys(_meta).length > 0 && { _meta }) } },
        CallToolResultSchema,
        { ...(signal && { signal }), ...(onProgress && { onprogress: ({ progress }) => onProgress(progress) }) },
      );
      return answerOf(result);
    },
    read: async (uri) => (await client.readResource({ uri })).contents[0] ?? {},
    rootsChanged: () => client.sendRootsListChanged(),
    subscribe: () => Promise.resolve(),
    close: () => end(client, transport, http),
  };
}

async function connectV2(kind: ClientKind, options: ClientOptions): Promise<TestClient> {
  const { elicit, roots } = options;
  const http = options.wire === "http" ? await startHttp(options) : undefined;
  const transport = http === undefined ? new StdioV2(serverCommand(options)) : new HttpV2(http.url, http.settings);
  const client = new ClientV2(
    { name: options.name ?? "test-client", version: "1.0.0" },
    {
      capabilities: capabilities(options),
      versionNegotiation: { mode: kind === "v2 in 2026" ? { pin: "2026-07-28" } : "legacy" },
    },
  );
  if (elicit)
    client.setRequestHandler("elicitation/create", async ({ params }) => ({ ...(await elicit(params.message)) }));
  if (roots) client.setRequestHandler("roots/list", () => ({ roots: roots().map((uri) => ({ uri })) }));
  const seen = collect(http?.child ?? (transport as Line));
  client.onerror = ({ message }) => void seen.errors.push(message);
  client.setNotificationHandler("notifications/tools/list_changed", () => void seen.changes++);
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  watchProgress(transport, seen);
  return {
    ...face(seen, http?.child ?? (transport as Line)),
    instructions: client.getInstructions(),
    list: async () => (await client.listTools()).tools,
    async call(name, input, { signal, onProgress, token, meta } = {}) {
      const _meta = { ...meta, ...(token !== undefined && { progressToken: token }) };
      const result = await client.callTool(
        { name, arguments: input, ...(Object.keys(_meta).length > 0 && { _meta }) },
        { ...(signal && { signal }), ...(onProgress && { onprogress: ({ progress }) => onProgress(progress) }) },
      );
      return answerOf(result);
    },
    read: async (uri) => (await client.readResource({ uri })).contents[0] ?? {},
    rootsChanged: () => client.sendRootsListChanged(),
    subscribe: async () => {
      if (kind === "v2 in 2026") await client.listen({ toolsListChanged: true });
    },
    close: () => end(client, transport, http),
  };
}

interface Seen {
  stderr: string;
  changes: number;
  errors: string[];
  progress: TestClient["progress"];
}

interface Line {
  stderr?: unknown;
  pid?: number | null | undefined;
  onmessage?: unknown;
}

function collect({ stderr }: Pick<Line, "stderr">): Seen {
  const seen: Seen = { stderr: "", changes: 0, errors: [], progress: [] };
  const stream = stderr as NodeJS.ReadableStream | undefined;
  stream?.setEncoding("utf8").on("data", (text) => {
    seen.stderr += text;
  });
  return seen;
}

/** Looks at every message beside the client, which may lose some. */
function watchProgress(transport: Line, seen: Seen): void {
  const original = transport.onmessage as (message: unknown, extra?: unknown) => void;
  transport.onmessage = (message: unknown, extra?: unknown) => {
    const parsed = ProgressNotificationSchema.safeParse(message);
    if (parsed.success) seen.progress.push(parsed.data.params);
    original(message, extra);
  };
}

function face(seen: Seen, transport: Pick<Line, "pid">) {
  return {
    progress: seen.progress,
    errors: seen.errors,
    listChanges: () => seen.changes,
    stderr: () => seen.stderr,
    pid: transport.pid ?? undefined,
  };
}

function capabilities({ elicit, roots }: ClientOptions) {
  return { ...(elicit && { elicitation: {} }), ...(roots && { roots: { listChanged: true } }) };
}

function answerOf(result: { [key: string]: unknown }): CallAnswer {
  const content = (result.content ?? []) as CallAnswer["content"];
  const text = content.flatMap((block) => (block.type === "text" ? [String(block.text)] : [])).join("\n");
  const meta = result._meta as Record<string, unknown> | undefined;
  return { text, isError: result.isError === true, structured: result.structuredContent, content, meta };
}
