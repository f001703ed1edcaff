import { ToolError } from "@toolhaft/core";
import type { ChildHandle } from "@toolhaft/process";
import type { InitializeResult, ServerCapabilities } from "vscode-languageserver-protocol";
import { clientCapabilities } from "./client-capabilities.ts";
import { type Connection, errorCode, openConnection, ResponseError } from "./connection.ts";
import type { Encoding, Json, ServerDefinition, Timeouts } from "./definition.ts";
import { createDocuments, type Documents } from "./documents.ts";
import { convertPositions } from "./encoding.ts";
import { type Loss, ServerLost } from "./loss.ts";
import type { SourceText } from "./positions.ts";
import { createProgressTracker, type ProgressTracker } from "./progress.ts";
import { createPublished, type Published } from "./published.ts";
import { createReadiness, type Readiness } from "./readiness.ts";
import { createRegistrations, type RegisteredDocument, type Registrations } from "./registrations.ts";
import { answerRequest } from "./server-requests.ts";
import { pathToUri, realPathOf } from "./uris.ts";
import { bounded, createQueue, pause, TimedOut } from "./waiting.ts";
import { covers, documentUriOf, folderOf, pluginsOf, syncWishes, textField } from "./wire-shapes.ts";

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  /** Ask again when the server says that its state changed under the request. Reads only. @default true */
  retry?: boolean;
  /** The document whose positions the message holds, when no `uri` in it says so. */
  uri?: string | undefined;
}

export type ApplyEdit = (
  edit: unknown,
  label: string | undefined,
) => Promise<{ applied: boolean; failureReason?: string }>;

/** One life of a server: from its start to the end of its process. */
export interface ServerLife {
  readonly definition: ServerDefinition;
  readonly id: string;
  readonly root: string;
  readonly program: string;
  readonly version: string | undefined;
  /** Plugins it was told to load. */
  readonly plugins: readonly string[];
  readonly child: ChildHandle;
  readonly startedAt: number;
  readonly capabilities: ServerCapabilities;
  readonly encoding: Encoding;
  readonly timeouts: Timeouts;
  readonly registrations: Registrations;
  readonly progress: ProgressTracker;
  readonly readiness: Readiness;
  readonly documents: Documents;
  readonly published: Published;
  readonly folders: string[];
  /** Results of pull diagnostics by document and identifier; dropped on refresh. */
  readonly pulled: Map<string, { resultId: string | undefined; items: unknown[] }>;
  /** Serialises what must not interleave: reading the disk and telling the server. */
  readonly serially: <T>(work: () => Promise<T>) => Promise<T>;
  readonly lost: Promise<Loss>;
  readonly loss: Loss | undefined;
  request<R>(method: string, params: unknown, options?: RequestOptions): Promise<R>;
  notify(method: string, params: unknown): void;
  supports(method: string, provider: keyof ServerCapabilities, document?: RegisteredDocument): boolean;
  /** Resolves when registrations that follow the start have most likely all come. */
  settled(): Promise<void>;
  /** The same for servers that register once a document is open. */
  registeredAfterOpen(): Promise<void>;
  /** Edits that the server sends are applied by this function while a command of ours runs. */
  applyWith<T>(apply: ApplyEdit, work: () => Promise<T>): Promise<T>;
  addFolder(root: string): void;
  /** Texts for people since the last call. */
  takeMessages(): string[];
  /** Any answer within the bound means alive. */
  isAlive(boundMs: number): Promise<boolean>;
  stop(): Promise<void>;
}

export interface LifeOptions {
  definition: ServerDefinition;
  root: string;
  program: string;
  child: ChildHandle;
  initializationOptions: Json | undefined;
  settings: { [section: string]: Json };
  timeouts: Timeouts;
  maxOpenDocuments: number;
  documentInUse(path: string): boolean;
  textOf(uri: string): Promise<SourceText | undefined>;
  bridge(life: ServerLife, method: string, params: unknown): Promise<unknown> | undefined;
  bridgeNotification(life: ServerLife, method: string, params: unknown): void;
  log(event: { type: string; server: string; detail?: string }): void;
}

const serverGone = Symbol("gone");

/**
 * Shakes hands with a process that was just started.
 *
 * @throws ServerLost when it ends first; TimedOut at the bound (the process is still there then); ResponseError when it refuses.
 */
export async function beginLife(options: LifeOptions): Promise<ServerLife> {
  const { definition, root, child } = options;
  const encodings = definition.positionEncodings ?? ["utf-16"];
  const progress = createProgressTracker(definition.ready?.ignoreTitles);
  const readiness = createReadiness(definition.ready, progress);
  const registrations = createRegistrations(root);
  const published = createPublished(realPathOf);
  const pulled: ServerLife["pulled"] = new Map();
  const folders = [root];
  let messages: string[] = [];
  let capabilities: ServerCapabilities = {};
  let encoding: Encoding = "utf-16";
  let version: string | undefined;
  let loss: Loss | undefined;
  let applying:
    | { apply: ApplyEdit; seen: Map<string, Promise<{ applied: boolean; failureReason?: string }>> }
    | undefined;
  let self: ServerLife | undefined;
  const startedAt = performance.now();

  let lose: (reason: Loss) => void = () => {};
  const lost = new Promise<Loss>((resolve) => {
    lose = (reason) => {
      loss ??= reason;
      resolve(loss);
    };
  });
  const tail = () => {
    const lines = child.stderrTail.lines(8);
    return (lines.length > 0 ? lines : noise().split("\n").slice(-8)).join("\n").slice(-1500);
  };
  const noise = () => connection?.noise().trim() ?? "";
  child.exited.then((exit) => lose({ reason: "ended", ...exit, stderr: tail() }));

  if (!child.stdout || !child.stdin) throw new ToolError("internal", "a server needs pipes");
  let connection: Connection | undefined;
  const connected = await openConnection(child.stdout, child.stdin, {
    request: (method, params) =>
      answerRequest(
        {
          definition,
          settings: options.settings,
          folders: () => folders.map(folderOf),
          registrations,
          refreshed: (refreshMethod) => {
            if (refreshMethod === "workspace/diagnostic/refresh") pulled.clear();
          },
          message: (text) => messages.push(text),
          applyEdit: async (raw) => {
            const edit = await convertPositions(raw, undefined, encoding, "decode", options.textOf);
            return applyOnce(edit);
          },
          bridge: (bridgeMethod, bridgeParams) => self && options.bridge(self, bridgeMethod, bridgeParams),
        },
        method,
        params,
      ),
    notification(method, params) {
      if (method === "$/progress") progress.handle(params);
      else if (method === "textDocument/publishDiagnostics") {
        if (encoding === "utf-16") published.handle(params);
        else convertPositions(params, undefined, encoding, "decode", options.textOf).then(published.handle, () => {});
      } else {
        if (method === "window/showMessage") keepMessage(params);
        // the TypeScript server tells the version of the compiler it has found
        if (method === "$/typescriptVersion") version = textField(params, "version") ?? version;
        readiness.handleNotification(method, params);
        if (self) options.bridgeNotification(self, method, params);
      }
    },
    lost(reason) {
      // a process that only closed its pipes is of no use either; its exit tells more when it comes soon
      setTimeout(() => {
        lose({ reason, code: null, signal: null, stderr: tail() });
        child.stop({ graceMs: 1_000 });
      }, 100);
    },
  });
  connection = connected;

  const keepMessage = (params: unknown) => {
    const { type, message } = (params ?? {}) as { type?: unknown; message?: unknown };
    if (typeof message === "string" && typeof type === "number" && type <= 2)
      messages = [...messages, message].slice(-5);
  };
  const applyOnce = (raw: unknown): Promise<{ applied: boolean; failureReason?: string }> => {
    const { edit, label } = (raw ?? {}) as { edit?: unknown; label?: string };
    if (applying === undefined) {
      return Promise.resolve({ applied: false, failureReason: "no command of this client is running" });
    }
    const key = JSON.stringify(edit);
    const known = applying.seen.get(key);
    if (known) return known;
    const result = applying.apply(edit, label);
    applying.seen.set(key, result);
    return result;
  };

  const send = async <R>(method: string, params: unknown, requestOptions: RequestOptions): Promise<R> => {
    const uri = requestOptions.uri ?? documentUriOf(params);
    const wire =
      encoding === "utf-16" ? params : await convertPositions(params, uri, encoding, "encode", options.textOf);
    if (loss) throw new ServerLost(definition.id, loss);
    let cancel = () => {};
    const answer = connected.request(method, wire, (cancelRequest) => {
      cancel = cancelRequest;
    });
    const raced = Promise.race([answer, lost.then(() => serverGone)]);
    answer.catch(() => {}); // a late answer to a caller that has left
    try {
      const ms = requestOptions.timeoutMs ?? options.timeouts.slow;
      const result = await bounded(raced, ms, requestOptions.signal);
      if (result === serverGone) throw new ServerLost(definition.id, loss ?? gone);
      return (
        encoding === "utf-16" ? result : await convertPositions(result, uri, encoding, "decode", options.textOf)
      ) as R;
    } catch (error) {
      if (error instanceof TimedOut || (error instanceof ToolError && error.code === "cancelled")) cancel();
      else if (!(error instanceof ResponseError) && !(error instanceof ServerLost)) {
        // the stream broke under the request: the exit that follows says why
        const reason = await Promise.race([lost, pause(2_000).then(() => undefined)]);
        if (reason) throw new ServerLost(definition.id, reason);
      }
      throw error;
    }
  };

  const request = async <R>(method: string, params: unknown, requestOptions: RequestOptions = {}): Promise<R> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await send<R>(method, params, requestOptions);
      } catch (error) {
        const again =
          error instanceof ResponseError &&
          (error.code === errorCode.contentModified || error.code === errorCode.serverCancelled);
        if (!again || attempt >= 3 || requestOptions.retry === false) throw error;
        await bounded(pause(100 * 2 ** attempt), 60_000, requestOptions.signal);
      }
    }
  };

  const result = await request<InitializeResult>(
    "initialize",
    {
      processId: process.pid,
      clientInfo: { name: "toolhaft" },
      locale: "en",
      rootPath: root,
      rootUri: pathToUri(root),
      workspaceFolders: [folderOf(root)],
      capabilities: clientCapabilities(encodings, definition),
      ...(options.initializationOptions !== undefined && { initializationOptions: options.initializationOptions }),
      trace: "off",
    },
    { timeoutMs: options.timeouts.initialize, retry: false },
  );
  capabilities = result?.capabilities ?? {};
  version ??= result?.serverInfo?.version;
  const chosen = capabilities.positionEncoding;
  if (chosen === "utf-8" || chosen === "utf-32") encoding = chosen;
  connected.notify("initialized", {});
  const { "": _whole, ...sections } = options.settings;
  if (!definition.pullsSettings) connected.notify("workspace/didChangeConfiguration", { settings: sections });

  const documents = createDocuments({
    notify: (method, params) => connected.notify(method, params),
    wishes: () => syncWishes(capabilities, registrations),
    limit: options.maxOpenDocuments,
    inUse: options.documentInUse,
  });

  let settling: Promise<void> | undefined;
  let lateRegistration: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const life: ServerLife = {
    definition,
    id: definition.id,
    root,
    program: options.program,
    get version() {
      return version;
    },
    plugins: pluginsOf(options.initializationOptions),
    child,
    startedAt,
    get capabilities() {
      return capabilities;
    },
    get encoding() {
      return encoding;
    },
    timeouts: options.timeouts,
    registrations,
    progress,
    readiness,
    documents,
    published,
    folders,
    pulled,
    serially: createQueue(),
    lost,
    get loss() {
      return loss;
    },
    request,
    notify: (method, params) => connected.notify(method, params),
    supports(method, provider, document) {
      const value = capabilities[provider];
      if (value !== undefined && value !== null && value !== false && covers(value, document, root)) return true;
      return document ? registrations.has(method, document) : registrations.has(method);
    },
    settled() {
      settling ??= (async () => {
        // servers register before they answer what was sent after `initialized`, or soon after
        await request("$/toolhaft/settled", null, { timeoutMs: 5_000, retry: false }).catch(() => {});
        const quietSince = performance.now();
        for (;;) {
          const quiet = performance.now() - Math.max(quietSince, registrations.changedAt);
          if (quiet >= registrationQuietMs || loss) return;
          await pause(registrationQuietMs - quiet);
        }
      })();
      return settling;
    },
    registeredAfterOpen() {
      lateRegistration ??= (async () => {
        const from = performance.now();
        while (performance.now() - from < options.timeouts.ready && !loss) {
          const quiet = performance.now() - registrations.changedAt;
          if (registrations.servesDocuments && quiet >= registrationQuietMs) return;
          await pause(50);
        }
      })();
      return lateRegistration;
    },
    async applyWith(apply, work) {
      if (applying) throw new ToolError("conflict", `${definition.id} is running another command`);
      applying = { apply, seen: new Map() };
      try {
        return await work();
      } finally {
        applying = undefined;
      }
    },
    addFolder(folder) {
      if (folders.includes(folder)) return;
      folders.push(folder);
      connected.notify("workspace/didChangeWorkspaceFolders", { event: { added: [folderOf(folder)], removed: [] } });
    },
    takeMessages() {
      const taken = messages;
      messages = [];
      return taken;
    },
    async isAlive(boundMs) {
      try {
        await send("$/toolhaft/alive", null, { timeoutMs: boundMs });
        return true;
      } catch (error) {
        return error instanceof ResponseError;
      }
    },
    stop() {
      stopping ??= (async () => {
        child.keepAlive(true);
        if (!loss) {
          try {
            await send("shutdown", undefined, { timeoutMs: options.timeouts.shutdown });
            connected.notify("exit", undefined);
          } catch (error) {
            options.log({ type: "shutdown-failed", server: definition.id, detail: String(error) });
          }
          child.stdin?.end();
          await Promise.race([child.exited, pause(1_000)]);
        }
        await child.stop({ graceMs: 2_000 });
        connected.dispose();
      })();
      return stopping;
    },
  };
  self = life;
  return life;
}

const registrationQuietMs = 250;
const gone: Loss = { reason: "ended", code: null, signal: null, stderr: "" };
