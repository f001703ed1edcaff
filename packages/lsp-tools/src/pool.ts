import { createContext, ToolError } from "@toolhaft/core";
import type { ServerCapabilities } from "vscode-languageserver-protocol";
import { Engine } from "./engine.ts";
import type { EngineOptions } from "./engine-options.ts";
import type { ServerEntry } from "./entry.ts";
import { beginCall, openFile } from "./open-file.ts";
import type { Serving } from "./serving.ts";
import { type ServerStatus, statusOf } from "./status.ts";
import { realPathOf } from "./uris.ts";

export interface LspPoolOptions extends EngineOptions {
  /** Where relative paths of {@link LspPool.serversFor} start. @default the working directory */
  directory?: string;
}

/** One server that serves a file, for programs that speak the protocol themselves. */
export interface ServerSession {
  readonly id: string;
  readonly root: string;
  readonly capabilities: ServerCapabilities;
  /** Whether the server has announced a method, from the start or since, for a file. */
  supports(method: string, file?: string): boolean;
  /** Brings the server up to the disk and opens the file. */
  open(file: string): Promise<{ uri: string; version: number }>;
  /** @throws the server's error, or a time-out */
  request<R>(method: string, params: unknown, options?: { signal?: AbortSignal; timeoutMs?: number }): Promise<R>;
}

/** Language servers, shared by all toolsets that are given it; whoever made it closes it. */
export interface LspPool extends AsyncDisposable {
  close(): Promise<void>;
  status(directory: string): ServerStatus[];
  /** The servers of a file; they are started. */
  serversFor(file: string, signal?: AbortSignal): Promise<ServerSession[]>;
  /** Stops what fits, forgets failures, starts again and re-opens the documents. */
  restart(filter: { languageId?: string; id?: string; root?: string }): Promise<ServerStatus[]>;
  /** For `createLspTools`. */
  readonly engine: Engine;
}

/** Makes a pool. Opens nothing: the first call starts servers. */
export function createLspPool(options: LspPoolOptions = {}): LspPool {
  const engine = new Engine(options);
  const context = (signal?: AbortSignal) =>
    createContext({ ...(options.directory && { directory: options.directory }), ...(signal && { signal }) });
  return {
    engine,
    close: () => engine.close(),
    status: (directory) => engine.entries.map((entry) => statusOf(entry, realPathOf(directory))),
    async serversFor(file, signal) {
      const call = beginCall(engine, context(signal));
      const opened = await openFile(call, file);
      await Promise.all(opened.served.serving.map((one) => one.entry.acquire(call.scope)));
      return opened.served.serving.map((one) => sessionOf(engine, one, () => context(signal)));
    },
    restart: (filter) => restartServers(engine, filter, beginCall(engine, context()).scope),
    [Symbol.asyncDispose]: () => engine.close(),
  };
}

function sessionOf(engine: Engine, serving: Serving, context: () => ReturnType<typeof createContext>): ServerSession {
  const { entry, languageId } = serving;
  const life = () => {
    if (entry.life && !entry.life.loss) return entry.life;
    throw new ToolError("unavailable", `${entry.id} does not run`, {
      hint: "ask the pool for the servers of the file again",
    });
  };
  return {
    id: entry.id,
    root: entry.root,
    get capabilities() {
      return life().capabilities;
    },
    supports(method, file) {
      const provider = providerOf(method);
      const uri = file === undefined ? undefined : life().documents.get(realPathOf(file))?.uri;
      return life().supports(method, provider, uri === undefined ? undefined : { uri, languageId });
    },
    async open(file) {
      const call = beginCall(engine, context());
      const opened = await openFile(call, file);
      return entry.use(call.scope, { read: true }, async (now) => {
        await engine.sync(now, entry, call.scope, { crossFile: true }, { text: opened.text, languageId });
        const document = now.documents.get(opened.text.path);
        if (!document) throw new ToolError("internal", `${file} was not opened`);
        return { uri: document.uri, version: document.version };
      });
    },
    request<R>(
      method: string,
      params: unknown,
      options: { signal?: AbortSignal; timeoutMs?: number } = {},
    ): Promise<R> {
      const { scope } = beginCall(engine, context());
      return entry.use(scope, { read: false }, (now) => now.request<R>(method, params, options));
    },
  };
}

/** "textDocument/documentSymbol" is announced as `documentSymbolProvider`. */
function providerOf(method: string): keyof ServerCapabilities {
  const special: Record<string, keyof ServerCapabilities> = {
    "textDocument/documentColor": "colorProvider",
    "textDocument/formatting": "documentFormattingProvider",
    "textDocument/rangeFormatting": "documentRangeFormattingProvider",
    "textDocument/prepareRename": "renameProvider",
    "textDocument/prepareCallHierarchy": "callHierarchyProvider",
    "textDocument/prepareTypeHierarchy": "typeHierarchyProvider",
    "textDocument/publishDiagnostics": "diagnosticProvider",
    "workspace/symbol": "workspaceSymbolProvider",
    "workspace/executeCommand": "executeCommandProvider",
  };
  const known = special[method];
  if (known) return known;
  const [, name = ""] = method.split("/");
  return `${name}Provider` as keyof ServerCapabilities;
}

export interface RestartFilter {
  languageId?: string | undefined;
  id?: string | undefined;
  root?: string | undefined;
  /** Only servers below this folder. */
  below?: string | undefined;
}

/** Stops every match, clears what is held against it, and starts it again. */
export async function restartServers(
  engine: Engine,
  filter: RestartFilter,
  scope: Parameters<ServerEntry["acquire"]>[0],
): Promise<ServerStatus[]> {
  engine.forget();
  const matches = engine.entries.filter((entry) => fits(entry, filter));
  await Promise.all(
    matches.map(async (entry) => {
      await entry.stop();
      entry.pardon();
    }),
  );
  // what fails again says so in its state
  await Promise.all(matches.map((entry) => entry.acquire(scope).catch(() => undefined)));
  return matches.map((entry) => statusOf(entry, scope.directory));
}

function fits(entry: ServerEntry, filter: RestartFilter): boolean {
  const { languageId, id, root, below } = filter;
  if (id !== undefined && entry.id !== id) return false;
  if (root !== undefined && entry.root !== realPathOf(root)) return false;
  if (below !== undefined && entry.root !== below && !entry.root.startsWith(`${below}/`)) return false;
  if (languageId === undefined) return true;
  return entry.id === languageId || entry.definition.files.some((file) => file.languageId === languageId);
}
