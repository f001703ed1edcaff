import type { Clock } from "@toolhaft/core";
import { ToolError } from "@toolhaft/core";
import type { ChildHandle, ProcessHost } from "@toolhaft/process";
import { beginLife } from "./begin-life.ts";
import { ResponseError } from "./connection.ts";
import { type CrashHistory, createCrashHistory } from "./crash-history.ts";
import { adoptDaemons } from "./daemons.ts";
import type { ServerDefinition, Timeouts } from "./definition.ts";
import type { CallScope, Launch, LaunchPlan, Refused } from "./launch.ts";
import { describeLoss, type Loss, lossWords, ServerLost } from "./loss.ts";
import { notUsable } from "./not-usable.ts";
import type { LifeOptions, ServerLife } from "./server.ts";
import { passStartGate } from "./start-gate.ts";
import { bounded, TimedOut } from "./waiting.ts";

export type EntryState = "stopped" | "starting" | "loading" | "ready" | "stopping" | "backoff" | "failed";

export interface EntryOptions {
  definition: ServerDefinition;
  root: string;
  timeouts: Timeouts;
  clock: Clock;
  host: ProcessHost;
  /** Finds out how to start it, and makes ready for that. */
  plan(scope: CallScope): Promise<LaunchPlan>;
  /** The same without making ready. */
  look(scope: CallScope): Promise<LaunchPlan>;
  life: Pick<LifeOptions, "maxOpenDocuments" | "textOf" | "bridge" | "bridgeNotification" | "log">;
  onStarted(life: ServerLife): Promise<void>;
  /** Whether it has answered any question of a tool. */
  hasAnswered(life: ServerLife): boolean;
}

/** One server for one root, over all its lives: started on demand, restarted after a crash, stopped when idle. */
export class ServerEntry {
  readonly definition: ServerDefinition;
  readonly root: string;
  readonly timeouts: Timeouts;
  /** By the clock: end of the last call. */
  lastUsed: number;
  /** Of the folder not being trusted; told with the first answer only. */
  note: string | undefined;
  life: ServerLife | undefined;
  #options: EntryOptions;
  #starting: Promise<ServerLife> | undefined;
  #health: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #child: ChildHandle | undefined;
  readonly #crashes: CrashHistory;
  #busy = 0;
  #closed = false;
  /** Documents to open again after a restart: path to language id. */
  #remembered = new Map<string, string>();
  #stopDaemons: (() => Promise<void>)[] = [];

  constructor(options: EntryOptions) {
    this.#options = options;
    this.definition = options.definition;
    this.root = options.root;
    this.timeouts = options.timeouts;
    this.lastUsed = options.clock.now();
    this.#crashes = createCrashHistory(options.definition.id, options.clock);
  }

  get lastError(): string | undefined {
    return this.#crashes.lastError;
  }

  get id(): string {
    return this.definition.id;
  }

  get state(): EntryState {
    if (this.#stopping) return "stopping";
    if (this.#starting) return "starting";
    if (this.life && !this.life.loss) return this.life.readiness.loaded ? "ready" : "loading";
    if (this.#crashes.failed) return "failed";
    return this.#crashes.waitMs > 0 ? "backoff" : "stopped";
  }

  /** Calls in flight. */
  get pending(): number {
    return this.#busy;
  }

  get pid(): number | undefined {
    return this.#child?.exit === undefined ? this.#child?.pid : undefined;
  }

  get stderrTail(): string | undefined {
    const lines = this.#child?.stderrTail.lines(5) ?? [];
    return lines.length > 0 ? lines.join("\n") : undefined;
  }

  /** Idle since, by the clock; `undefined` while anything runs. */
  get idleSince(): number | undefined {
    if (!this.life || this.#busy > 0 || this.#starting || this.life.progress.running().length > 0) return undefined;
    return this.lastUsed;
  }

  /**
   * Runs work on the living server, starting it first. Reads are repeated once when the server ends under them.
   *
   * @throws ToolError, ServerLost, TimedOut, ResponseError
   */
  async use<T>(scope: CallScope, options: { read: boolean }, work: (life: ServerLife) => Promise<T>): Promise<T> {
    this.#busy++;
    try {
      for (let attempt = 0; ; attempt++) {
        const life = await this.acquire(scope);
        life.child.keepAlive(true);
        try {
          return await work(life);
        } catch (error) {
          if (error instanceof TimedOut) this.#checkHealth(life);
          if (!(error instanceof ServerLost) || !options.read || attempt > 0) throw error;
        }
      }
    } finally {
      this.#busy--;
      this.lastUsed = this.#options.clock.now();
      if (this.#busy === 0 && !this.#stopping) this.#child?.keepAlive(false);
    }
  }

  /** The living server; starts it, once for all who ask. */
  async acquire(scope: CallScope): Promise<ServerLife> {
    if (this.#stopping) await this.#stopping;
    if (this.#health) await bounded(this.#health, this.timeouts.call, scope.signal);
    if (this.life && !this.life.loss) return this.life;
    if (this.#closed) throw new ToolError("unavailable", "the language servers have been closed");
    this.#crashes.check();
    this.#starting ??= this.#start(scope).finally(() => {
      this.#starting = undefined;
    });
    return bounded(this.#starting, this.timeouts.call, scope.signal);
  }

  async stop(): Promise<void> {
    this.#stopping ??= (async () => {
      try {
        await this.#starting?.catch(() => {});
        const { life } = this;
        this.#remember();
        this.life = undefined;
        await life?.stop();
        await this.#child?.stop({ graceMs: 1_000 });
        await Promise.all(this.#stopDaemons.map((stop) => stop()));
        this.#stopDaemons = [];
        this.#child = undefined;
      } finally {
        this.#stopping = undefined;
      }
    })();
    return this.#stopping;
  }

  async close(): Promise<void> {
    this.#closed = true;
    // a start that never ends must not hold up the end
    if (this.#starting) await this.#child?.stop({ graceMs: 500 });
    await this.stop();
  }

  /** Forgets crashes and failures. */
  pardon(): void {
    this.#crashes.pardon();
  }

  /** How it would be started; starts nothing. */
  look(scope: CallScope): Promise<LaunchPlan> {
    return this.#options.look(scope);
  }

  async #start(scope: CallScope): Promise<ServerLife> {
    const plan = await this.#options.plan(scope);
    const refused = [...plan.refused];
    if (plan.launches.length === 0) throw notUsable(this.definition, plan, refused);
    for (const launch of plan.launches) {
      await passStartGate(this.definition, launch, scope);
      const life = await this.#try(launch, refused);
      if (life) return life;
    }
    this.#crashes.record(refused.map((one) => `${one.program}: ${one.words}`).join("; "));
    throw notUsable(this.definition, plan, refused);
  }

  async #try(launch: Launch, refused: Refused[]): Promise<ServerLife | undefined> {
    const { definition, root, timeouts } = this;
    let child: ChildHandle;
    try {
      child = await this.#options.host.start({
        command: launch.program,
        args: launch.args,
        cwd: root,
        env: launch.env,
      });
    } catch (error) {
      refused.push({ program: launch.program, words: error instanceof Error ? error.message : String(error) });
      return undefined;
    }
    this.#child = child;
    try {
      const life = await beginLife({
        ...this.#options.life,
        definition,
        root,
        program: launch.program,
        child,
        initializationOptions: launch.initializationOptions,
        settings: launch.settings,
        timeouts,
        documentInUse: () => false,
      });
      if (this.#closed) throw new ToolError("unavailable", "the language servers have been closed");
      this.life = life;
      this.note = launch.note;
      this.#crashes.lastError = undefined;
      life.lost.then((loss) => this.#onLost(life, loss));
      if (this.definition.sharedDaemon) {
        this.#stopDaemons.push(...(await adoptDaemons(this.#options.host, child.pid)));
      }
      await this.#options.onStarted(life);
      // a server that loads now is asked nothing about closed documents: they are opened when needed
      if (this.#busy === 0) child.keepAlive(false);
      return life;
    } catch (error) {
      await child.stop({ graceMs: 500 });
      if (error instanceof ServerLost) {
        refused.push({ program: launch.program, words: lossWords(error.loss) });
        return undefined;
      }
      throw this.#startError(error, child);
    }
  }

  #startError(error: unknown, child: ChildHandle): unknown {
    if (error instanceof TimedOut) {
      const tail = child.stderrTail.lines(5).join("\n");
      this.#crashes.lastError = `initialize was not answered within ${this.timeouts.initialize} ms`;
      return new ToolError(
        "timeout",
        `${this.id} did not answer initialize within ${this.timeouts.initialize} ms${tail && `: ${tail}`}`,
        {
          hint: "raise timeouts.initialize of this server, or call again",
          details: { stage: "initialize", server: this.id },
        },
      );
    }
    if (error instanceof ResponseError) {
      this.#crashes.lastError = error.message;
      return new ToolError("upstream", `${this.id} refused initialize: ${error.message} (${error.code})`, {
        details: { stage: "initialize", server: this.id, code: error.code },
      });
    }
    return error;
  }

  #onLost(life: ServerLife, loss: Loss): void {
    if (this.life !== life) return;
    this.#remember();
    this.life = undefined;
    this.#crashes.record(describeLoss(this.id, loss));
  }

  #remember(): void {
    for (const document of this.life?.documents.list() ?? []) this.#remembered.set(document.path, document.languageId);
  }

  /** The documents that were open when the last life ended; handed out once. */
  takeRemembered(): Map<string, string> {
    const taken = this.#remembered;
    this.#remembered = new Map();
    return taken;
  }

  #checkHealth(life: ServerLife): void {
    if (this.life !== life) return;
    this.#health ??= (async () => {
      try {
        // one that loads its project may be deaf for longer than one that has answered before
        const { health, ready } = this.timeouts;
        if (await life.isAlive(this.#options.hasAnswered(life) ? health : Math.max(health, ready))) return;
        this.#remember();
        if (this.life === life) this.life = undefined;
        this.#crashes.record(`${this.id} stopped answering`);
        await life.child.stop({ graceMs: 1_000 });
      } finally {
        this.#health = undefined;
      }
    })();
    this.#health.catch(() => {});
  }
}
