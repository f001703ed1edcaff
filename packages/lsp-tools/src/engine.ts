import { type Clock, systemClock } from "@toolhaft/core";
import { createProcessHost, type ProcessHost } from "@toolhaft/process";
import type { Workspace } from "@toolhaft/workspace";
import { markdownFiles } from "./bridges/markdown-files.ts";
import { createVueBridge } from "./bridges/vue.ts";
import type { Registry } from "./config.ts";
import { defaultTimeouts, type ServerDefinition, type Timeouts } from "./definition.ts";
import { createDiskReaders, type DiskReaders } from "./disk-readers.ts";
import type { EngineOptions } from "./engine-options.ts";
import { ServerEntry } from "./entry.ts";
import type { Feature } from "./features.ts";
import { createFolderChoices, type FolderChoices } from "./folder-choices.ts";
import { type FileKind, interpreterOf, languageFor } from "./languages.ts";
import { applies, type CallScope, type LaunchPlan, optionsKey, planLaunches, searchScope } from "./launch.ts";
import { sourceText } from "./positions.ts";
import { findRoot } from "./roots.ts";
import type { ServerLife } from "./server.ts";
import { orderedDefinitions, partnerLanguage, partnerPlugins, type Serving, type ServingFile } from "./serving.ts";
import { openOrChange, type Synced, syncWithDisk } from "./sync.ts";
import { createTexts, type FileText, type Texts } from "./texts.ts";
import { realPathOf, uriToPath } from "./uris.ts";
import { createWorkspaces, type Workspaces } from "./workspaces.ts";

/** How long a look at what serves a file holds. */
const servingMemoryMs = 2_000;
const idleCheckMs = 500;

/** What all tools of a pool share: servers, texts, disk monitors, configuration, trust. */
export class Engine {
  readonly timeouts: Timeouts;
  readonly texts: Texts;
  readonly clock: Clock;
  readonly host: ProcessHost;
  readonly options: EngineOptions;
  readonly choices: FolderChoices;
  #entries = new Map<string, ServerEntry>();
  readonly #disk: DiskReaders;
  readonly #workspaces: Workspaces;
  #servingMemory = new Map<string, { at: number; result: Promise<ServingFile> }>();
  #firstAnswers = new WeakSet<ServerLife>();
  #seenCommits = new WeakMap<ServerLife, number>();
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;
  #vue = createVueBridge(() => [...this.#entries.values()]);

  constructor(options: EngineOptions) {
    this.options = options;
    this.choices = createFolderChoices(options);
    this.timeouts = { ...defaultTimeouts, ...options.timeouts };
    this.clock = options.clock ?? systemClock;
    this.host = createProcessHost();
    this.#disk = createDiskReaders(options.diskSync ?? "auto");
    this.#workspaces = createWorkspaces(options.workspace);
    this.texts = createTexts((path) => this.#workspaces.holding(path), this.maxFileBytes);
  }

  get maxFileBytes(): number {
    return this.options.maxFileBytes ?? 4 * 1024 * 1024;
  }

  get entries(): ServerEntry[] {
    return [...this.#entries.values()];
  }

  /** The workspace of a directory: the shared one, or one that this engine makes and closes. */
  workspaceFor(directory: string, roots?: readonly string[]): Workspace {
    return this.#workspaces.of(directory, roots);
  }

  /** The servers of a file, in the order of their definitions, and those that are missing. */
  async servingFor(scope: CallScope, path: string, text: string | undefined): Promise<ServingFile> {
    const key = `${scope.directory}\0${path}`;
    const known = this.#servingMemory.get(key);
    if (known && performance.now() - known.at < servingMemoryMs) return known.result;
    const result = this.#findServing(scope, path, text);
    this.#servingMemory.set(key, { at: performance.now(), result });
    result.catch(() => this.#servingMemory.delete(key));
    if (this.#servingMemory.size > 1_000) this.#servingMemory.clear();
    return result;
  }

  async #findServing(scope: CallScope, path: string, text: string | undefined): Promise<ServingFile> {
    const registry = await this.choices.registry(scope.directory);
    const file: FileKind = { path, overrides: registry.files, interpreter: text && interpreterOf(text) };
    const search = searchScope(path, scope);
    const found: ServingFile = { serving: [], missing: [], registry };
    const servedGroups = new Set<string>();
    for (const definition of orderedDefinitions(registry)) {
      if (definition.group !== undefined && servedGroups.has(definition.group)) continue;
      const own = languageFor(definition, file);
      const languageId = own ?? partnerLanguage(registry.definitions, definition, file);
      if (languageId === undefined || !applies(definition, search)) continue;
      const root = findRoot(definition, path, scope);
      const plugins = partnerPlugins(registry.definitions, definition, root, own === undefined);
      const entry = await this.#entryFor(scope, definition, root, registry, plugins, path);
      if (entry instanceof ServerEntry) {
        found.serving.push({ definition, languageId, entry });
        if (definition.group !== undefined) servedGroups.add(definition.group);
      } else found.missing.push({ definition, languageId, plan: entry });
    }
    for (const one of found.serving) {
      const partner = found.serving.find((other) => other.definition.id === one.definition.partner?.id);
      if (partner) one.partner = partner;
    }
    return found;
  }

  async #entryFor(
    scope: CallScope,
    definition: ServerDefinition,
    root: string,
    registry: Registry,
    plugins: string[],
    path: string,
  ): Promise<ServerEntry | LaunchPlan> {
    const options = optionsKey(definition, plugins);
    const key = `${definition.id}\0${root}\0${options}`;
    const known = this.#entries.get(key);
    if (known?.life) return known;
    if (definition.multiRoot) {
      const shared = this.#sharedEntry(definition, options, root);
      if (shared) return shared;
    }
    const plan = await this.#plan(scope, definition, root, registry, plugins, path);
    if (plan.launches.length === 0) return plan;
    const again = this.#entries.get(key);
    if (again) return again;
    const look = async (startScope: CallScope) =>
      this.#plan(startScope, definition, root, await this.choices.registry(startScope.directory), plugins, path);
    const entry: ServerEntry = new ServerEntry({
      definition,
      root,
      timeouts: { ...this.timeouts, ...definition.timeouts, ...this.options.timeouts },
      clock: this.clock,
      host: this.host,
      plan: async (startScope) => {
        await this.#disk.listen(entry);
        await this.#makeRoom(entry);
        return look(startScope);
      },
      look,
      life: {
        maxOpenDocuments: this.options.maxOpenDocuments ?? 64,
        textOf: async (uri) => this.#textOfUri(uri),
        bridge: (life, method, params) =>
          life.definition.bridges?.includes("markdown-files") ? markdownFiles(life, method, params) : undefined,
        bridgeNotification: (life, method, params) => this.#vue.notification(life, method, params),
        log: (event) => this.options.log?.(event),
      },
      onStarted: (life) => this.#onStarted(entry, life),
      hasAnswered: (life) => this.#firstAnswers.has(life),
    });
    this.#entries.set(key, entry);
    this.#stopOutdated(definition.id, root, key);
    return entry;
  }

  #sharedEntry(definition: ServerDefinition, options: string, root: string): ServerEntry | undefined {
    for (const [key, entry] of this.#entries) {
      if (entry.id !== definition.id || !key.endsWith(options) || !entry.life) continue;
      if (entry.life.capabilities.workspace?.workspaceFolders?.supported !== true) continue;
      entry.life.addFolder(root);
      return entry;
    }
    return undefined;
  }

  #plan(
    scope: CallScope,
    definition: ServerDefinition,
    root: string,
    registry: Registry,
    plugins: string[],
    path: string,
  ): Promise<LaunchPlan> {
    return planLaunches(definition, {
      root,
      search: searchScope(path, scope),
      trusted: () => this.choices.trusted(scope, root),
      chosenByFolder: registry.chosenByFolder.has(definition.id),
      plugins,
    });
  }

  /** A configuration that changed restarts servers that have nothing to do. */
  #stopOutdated(id: string, root: string, key: string): void {
    for (const [otherKey, entry] of this.#entries) {
      if (otherKey === key || entry.id !== id || entry.root !== root || entry.pending > 0) continue;
      this.#entries.delete(otherKey);
      void this.#retire(entry);
    }
  }

  async #retire(entry: ServerEntry): Promise<void> {
    this.#disk.drop(entry);
    await entry.stop();
  }

  /** Beyond the limit the server that has been idle for longest goes. */
  async #makeRoom(starting: ServerEntry): Promise<void> {
    const limit = this.options.maxServers ?? 8;
    const running = this.entries.filter((entry) => entry !== starting && entry.life);
    const idle = running
      .filter((entry) => entry.idleSince !== undefined)
      .sort((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0));
    for (const entry of idle.slice(0, Math.max(0, running.length + 1 - limit))) await entry.stop();
  }

  async #onStarted(entry: ServerEntry, life: ServerLife): Promise<void> {
    this.#idleTimer ??= setInterval(() => this.#stopIdle(), idleCheckMs).unref();
    this.options.log?.({ type: "started", server: life.id, detail: `pid ${life.child.pid}` });
    for (const [path, languageId] of entry.takeRemembered()) {
      const text = await this.texts.tryRead(path, { directory: entry.root });
      if (text) openOrChange(life, path, languageId, text.source.text);
    }
  }

  #stopIdle(): void {
    const idleMs = this.options.idleMs ?? 600_000;
    const now = this.clock.now();
    for (const entry of this.entries) {
      const since = entry.idleSince;
      if (since !== undefined && now - since >= idleMs) void entry.stop();
    }
  }

  async #textOfUri(uri: string) {
    const path = uriToPath(uri);
    if (path === undefined) return undefined;
    const real = realPathOf(path);
    for (const entry of this.#entries.values()) {
      const open = entry.life?.documents.get(real);
      if (open) return sourceText(open.text);
    }
    return (await this.texts.tryRead(real, { directory: real.slice(0, real.lastIndexOf("/")) || "/" }))?.source;
  }

  /** Runs the disk barrier and opens the addressed file. */
  async sync(
    life: ServerLife,
    entry: ServerEntry,
    scope: CallScope,
    feature: Pick<Feature, "crossFile">,
    file: { text: FileText; languageId: string } | undefined,
  ): Promise<Synced> {
    const { monitor, reader } = await this.#disk.of(entry);
    const { commits } = this.#workspaces;
    // after a commit of this process the next look is at everything
    const thorough = feature.crossFile || this.#seenCommits.get(life) !== commits;
    this.#seenCommits.set(life, commits);
    const registry = await this.choices.registry(scope.directory);
    const syncing = { life, monitor, reader, texts: this.texts, overrides: registry.files, thorough };
    return syncWithDisk(syncing, scope, feature, file);
  }

  /** Until a server has answered once, a request may take as long as loading may. */
  boundFor(life: ServerLife, feature: Feature): number {
    const bound = life.timeouts[feature.bound];
    if (this.#firstAnswers.has(life)) return bound;
    return Math.max(bound, life.timeouts.ready);
  }

  answered(life: ServerLife): void {
    this.#firstAnswers.add(life);
  }

  /** Starts the other side of a bridge and opens the file there; the answer is what is missing, for people. */
  async prepareBridge(scope: CallScope, serving: Serving, text: FileText): Promise<string | undefined> {
    const { partner } = serving.definition;
    if (!partner) return undefined;
    if (!serving.partner) return `the ${partner.id} server that ${serving.definition.id} files need is not installed`;
    const { entry, languageId } = serving.partner;
    const life = await entry.acquire(scope);
    await this.sync(life, entry, scope, { crossFile: false }, { text, languageId });
    if (life.plugins.includes(partner.plugin)) return undefined;
    return `${partner.plugin} is not installed beside ${partner.id}: npm install -g ${partner.plugin}`;
  }

  /** Forgets what was found, so that the next look finds it anew. */
  forget(): void {
    this.#servingMemory.clear();
    this.choices.forget();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#idleTimer);
    await Promise.all(this.entries.map((entry) => entry.close()));
    await this.#disk.close();
    await this.host.close({ graceMs: 1_000 });
    await this.#workspaces.close();
  }
}
