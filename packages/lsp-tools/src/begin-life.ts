import { ToolError } from "@toolhaft/core";
import type { InitializeResult, ServerCapabilities } from "vscode-languageserver-protocol";
import { publishFault } from "./answer-shapes.ts";
import { clientCapabilities } from "./client-capabilities.ts";
import { type Connection, openConnection, ResponseError } from "./connection.ts";
import type { Encoding } from "./definition.ts";
import { createDocuments } from "./documents.ts";
import { convertPositions } from "./encoding.ts";
import type { Loss } from "./loss.ts";
import { createProgressTracker } from "./progress.ts";
import { createPublished } from "./published.ts";
import { createReadiness } from "./readiness.ts";
import { createRegistrationWaits } from "./registration-waits.ts";
import { createRegistrations } from "./registrations.ts";
import { createRequests } from "./requests.ts";
import type { LifeOptions, ServerLife } from "./server.ts";
import { createServerEdits } from "./server-edits.ts";
import { answerRequest } from "./server-requests.ts";
import { pathToUri, realPathOf } from "./uris.ts";
import { createQueue, pause } from "./waiting.ts";
import { covers, folderOf, pluginsOf, syncWishes, textField } from "./wire-shapes.ts";

const maxMessages = 5;

/**
 * Shakes hands with a process that was just started.
 *
 * @throws ServerLost when it ends first; TimedOut at the bound (the process is still there then); ResponseError when it refuses.
 */
export async function beginLife(options: LifeOptions): Promise<ServerLife> {
  const { definition, root, child } = options;
  if (!child.stdout || !child.stdin) throw new ToolError("internal", "a server needs pipes");
  const encodings = definition.positionEncodings ?? ["utf-16"];
  const progress = createProgressTracker(definition.ready?.ignoreTitles);
  const readiness = createReadiness(definition.ready, progress);
  const registrations = createRegistrations(root);
  const published = createPublished(realPathOf);
  const edits = createServerEdits(definition.id);
  const pulled: ServerLife["pulled"] = new Map();
  const folders = [root];
  let messages: string[] = [];
  let capabilities: ServerCapabilities = {};
  let encoding: Encoding = "utf-16";
  let version: string | undefined;
  let self: ServerLife | undefined;
  const startedAt = performance.now();

  let loss: Loss | undefined;
  let lose: (reason: Loss) => void = () => {};
  const lost = new Promise<Loss>((resolve) => {
    lose = (reason) => {
      loss ??= reason;
      resolve(loss);
    };
  });
  let connection: Connection | undefined;
  const tail = () => {
    const said = child.stderrTail.lines(8);
    const noise = connection?.noise().trim().split("\n").slice(-8) ?? [];
    return (said.length > 0 ? said : noise).join("\n").slice(-1500);
  };
  child.exited.then((exit) => lose({ reason: "ended", ...exit, stderr: tail() }));

  const keepMessage = (text: string) => {
    messages = [...messages, text].slice(-maxMessages);
  };
  const publish = (params: unknown) => {
    const fault = publishFault(params);
    if (fault === undefined) published.handle(params);
    else keepMessage(`published diagnostics that the protocol does not know (${fault.replace(/^[.]/, "")})`);
  };
  const decoded = (value: unknown) => convertPositions(value, undefined, encoding, "decode", options.textOf);

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
          message: keepMessage,
          applyEdit: async (raw) => edits.handle(await decoded(raw)),
          bridge: (bridgeMethod, bridgeParams) => self && options.bridge(self, bridgeMethod, bridgeParams),
        },
        method,
        params,
      ),
    notification(method, params) {
      if (method === "$/progress") progress.handle(params);
      else if (method === "textDocument/publishDiagnostics") {
        if (encoding === "utf-16") publish(params);
        else decoded(params).then(publish, () => {});
      } else {
        const warning = method === "window/showMessage" ? warningIn(params) : undefined;
        if (warning !== undefined) keepMessage(warning);
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

  const requests = createRequests({
    server: definition.id,
    connection: connected,
    get encoding() {
      return encoding;
    },
    lost,
    get loss() {
      return loss;
    },
    textOf: options.textOf,
    defaultMs: options.timeouts.slow,
  });
  const waits = createRegistrationWaits({
    registrations,
    requests,
    loss: () => loss,
    readyMs: options.timeouts.ready,
  });

  const result = await requests.request<InitializeResult | null>(
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

  let stopping: Promise<void> | undefined;
  const stop = async () => {
    child.keepAlive(true);
    if (!loss) {
      try {
        await requests.send("shutdown", undefined, { timeoutMs: options.timeouts.shutdown });
        connected.notify("exit", undefined);
      } catch (error) {
        options.log({ type: "shutdown-failed", server: definition.id, detail: String(error) });
      }
      child.stdin?.end();
      await Promise.race([child.exited, pause(1_000)]);
    }
    await child.stop({ graceMs: 2_000 });
    connected.dispose();
  };

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
    request: requests.request,
    notify: (method, params) => connected.notify(method, params),
    supports(method, provider, document) {
      const value = capabilities[provider];
      if (value !== undefined && value !== null && value !== false && covers(value, document, root)) return true;
      return document ? registrations.has(method, document) : registrations.has(method);
    },
    settled: waits.settled,
    registeredAfterOpen: waits.afterOpen,
    applyWith: edits.during,
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
        await requests.send("$/toolhaft/alive", null, { timeoutMs: boundMs });
        return true;
      } catch (error) {
        return error instanceof ResponseError;
      }
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
  self = life;
  return life;
}

/** The text of a `window/showMessage` that is an error or a warning. */
function warningIn(params: unknown): string | undefined {
  const { type, message } = (params ?? {}) as { type?: unknown; message?: unknown };
  return typeof message === "string" && typeof type === "number" && type <= 2 ? message : undefined;
}
