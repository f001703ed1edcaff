import type { AnyTool, Clock, Policy } from "@toolhaft/core";

export interface ServeOptions {
  /** Told to the client. @default "toolhaft" */
  name?: string;
  /** Told to the client. @default the version of this package */
  version?: string;
  /** What a model should know of the whole set. */
  instructions?: string;
  /** Where relative paths start; wins over the client's roots. @default the roots, else the working directory */
  directory?: string;
  /** Decides every effect; a function where rules hang on the directory. @default core's `defaultPolicy` of the directory and roots */
  policy?: Policy | ((workspace: Workspace) => Policy);
  /** The task that the client works on, and the secret of its claim: set where a dispatcher started the client. */
  task?: { id: string; token: string };
  /** Tools that are found and loaded by need; the whole set otherwise. */
  lazy?: LazyTools;
  /** Gives `structuredContent` and `outputSchema`, too: twice the size, for applications. @default false */
  structured?: boolean;
  /** Cuts every text to this many characters, below each tool's own limit. */
  maxTextChars?: number;
  /** How long a person may take to answer, in milliseconds. @default 600_000 */
  askTimeoutMs?: number;
  /** Faults that no caller sees, and notes for whoever runs the server. @default one line on stderr */
  onError?(error: Error): void;
  clock?: Clock;
}

/** What serving by need takes of a family that finds and loads tools. */
export interface LazyTools {
  /** Its own tools: always listed. */
  readonly tools: readonly AnyTool[];
  /** All tools listed for a session: its own, those always on, and what was loaded. */
  listed(sessionId: string): readonly AnyTool[];
  /** Calls the listener after a session loaded tools; gives the way to stop it. */
  onLoad(listener: (sessionId: string) => void): () => void;
  /** Families and how to find tools, for the model. */
  instructions(): string;
}

/** Where a session works. */
export interface Workspace {
  /** Absolute real path; when `missing` a path that does not exist. */
  directory: string;
  roots: readonly string[];
  /** Why there is no folder to work in; files are `unavailable` then. */
  missing?: string;
}

/** A tool as `tools/list` gives it. */
export interface McpTool {
  name: string;
  title: string;
  description: string;
  inputSchema: McpObjectSchema;
  outputSchema?: McpObjectSchema;
  annotations: {
    title: string;
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
}

export interface McpObjectSchema {
  type: "object";
  [keyword: string]: unknown;
}

export type McpContent =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string }
  | { type: "resource_link"; uri: string; name: string; mimeType: string; size: number };

export interface McpCallResult {
  [key: string]: unknown;
  content: McpContent[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
  _meta?: Record<string, unknown>;
}

/** A form for a person, as `elicitation/create` takes it. */
export interface Question {
  message: string;
  requestedSchema: QuestionSchema;
}

export interface QuestionSchema {
  [key: string]: unknown;
  type: "object";
  properties: {
    decision: { type: "string"; title: string; enum: string[] };
    feedback: { type: "string"; title: string; description: string };
  };
  required: string[];
}

/** What came back from the form; untrusted. */
export interface QuestionAnswer {
  action: string;
  content?: Record<string, unknown> | undefined;
}

/** One `tools/call`, told without any SDK. */
export interface CallRequest {
  name: string;
  /** Raw input: whatever the model sent. */
  arguments?: unknown;
  /** `params._meta`: the progress token and our own keys. */
  meta?: Record<string, unknown> | undefined;
  /** Fires on `notifications/cancelled` and when the connection ends. */
  signal: AbortSignal;
  /** The client's own name; who calls, for policy and logs. */
  client?: string | undefined;
  /** Sends `notifications/progress`. */
  notify(params: ProgressParams): Promise<void>;
  /**
   * How a person is reached: "park" ends the request with a question and goes on at the retry, a function waits in place,
   * and without either the answer is no.
   */
  ask?: "park" | ((question: Question, signal: AbortSignal) => Promise<QuestionAnswer>) | undefined;
  /** Whether an answer may hold for the session: not where there is none. @default true */
  remembers?: boolean;
  /** Whether the request stays open while its call is parked: progress and cancel go on then. */
  staysOpen?: boolean;
  /** The retry of a parked call. */
  resume?: { state: string; answer: QuestionAnswer | undefined } | undefined;
}

export interface ProgressParams {
  [key: string]: unknown;
  progressToken: string | number;
  progress: number;
  total?: number;
  message?: string;
}

export type CallReply =
  | { kind: "result"; result: McpCallResult }
  | { kind: "question"; state: string; question: Question };

export interface ResourceContents {
  uri: string;
  mimeType: string;
  text?: string;
  blob?: string;
  _meta?: Record<string, unknown>;
}

/** A protocol error: JSON-RPC code and message. */
export class McpFault extends Error {
  override readonly name = "McpFault";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** JSON-RPC "invalid params". */
export const invalidParams = -32602;

/** The toolset of one session, without any SDK. Bound to a server by `bindV2` here, to a v1 server by `bindV1`. */
export interface McpHandlers {
  readonly name: string;
  readonly version: string;
  readonly instructions: string | undefined;
  readonly askTimeoutMs: number;
  list(request: {
    cursor?: string | undefined;
    client?: string | undefined;
  }): Promise<{ tools: McpTool[]; nextCursor?: string }>;
  call(request: CallRequest): Promise<CallReply>;
  listResources(): { uri: string; name: string; mimeType: string; size: number }[];
  readResource(uri: string): Promise<ResourceContents>;
  /** Takes the client's roots; `undefined` when it has none to give. */
  setRoots(uris: readonly string[] | undefined): void;
  /** The roots are being asked for: calls wait for them. */
  awaitRoots(roots: Promise<readonly string[] | undefined>): Promise<void>;
  /** Starts loading the tools without waiting for a request. */
  warm(): void;
  onListChanged(listener: () => void): () => void;
  onError(error: Error): void;
  /** Ends every running call and closes the toolset. */
  close(): Promise<void>;
}
