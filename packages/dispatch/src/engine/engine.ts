import { hostname } from "node:os";
import { join } from "node:path";
import { type ContextInit, createId } from "@toolhaft/core";
import type { Actor, ChangeHint, Claim, ClaimRef, EngineInfo, Task, TaskBackend, Usage } from "@toolhaft/tasks";
import { isEnded } from "@toolhaft/tasks";
import type { Metrics } from "../metrics.ts";
import { Delivery } from "../notices/delivery.ts";
import type { ToolName } from "../notices/notice.ts";
import type { Settings } from "../options.ts";
import type { RunOutcome } from "../runner.ts";
import type { Tracing } from "../tracing.ts";
import { warnOfBudget } from "./budget-warning.ts";
import { Changes, quietKinds } from "./changes.ts";
import { Contexts } from "./contexts.ts";
import type { RunEnvironment } from "./environment.ts";
import { Pump } from "./pump.ts";
import { holdStale, type RecoveryReport, sweepAll } from "./recovery.ts";
import { Run } from "./run.ts";
import { usedBefore } from "./session-usage.ts";
import { keepLate } from "./settle.ts";
import { spentBefore } from "./spent.ts";
import { endRun } from "./stop-run.ts";
import { agentFor } from "./take.ts";
import { checkLimits, renewLeases, stopByRow } from "./upkeep.ts";

const claimsAtOnce = 10;
/** One running dispatcher on one store: claims tasks, runs them, keeps their leases, and tells what happened. */
export class Engine implements RunEnvironment {
  readonly engineId = createId();
  readonly host = hostname();
  readonly settings: Settings;
  readonly backend: TaskBackend;
  readonly metrics: Metrics;
  readonly directory: string;
  readonly storeName: string;
  readonly changes: Changes;
  readonly delivery: Delivery;

  readonly #tracing: Tracing;
  readonly #runs = new Map<string, Run>();
  readonly #sessions = new Set<string>();
  readonly #contexts = new Contexts();
  readonly #closing = new AbortController();
  readonly #pump = new Pump(
    () => this.#claim(),
    (error) => this.#onFault(error),
  );
  #started: Promise<RecoveryReport> | undefined;
  #startedAt = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ticking: Promise<void> | undefined;
  #sweptAt = Number.NEGATIVE_INFINITY;
  #beatAt = Number.NEGATIVE_INFINITY;
  /** The last failure that belongs to no task. */
  lastFault: string | undefined;

  constructor(settings: Settings, backend: TaskBackend, metrics: Metrics, tracing: Tracing, directory: string) {
    this.settings = settings;
    this.backend = backend;
    this.metrics = metrics;
    this.#tracing = tracing;
    this.directory = directory;
    this.storeName = backend.location ?? join(directory, ".toolhaft");
    this.changes = new Changes(backend, settings.pollMs);
    this.delivery = new Delivery(backend.store, metrics, () => settings.clock.now());
  }

  get store() {
    return this.backend.store;
  }

  get queue() {
    return this.backend.queue;
  }

  get actor(): Actor {
    return { agent: "dispatcher", sessionId: this.engineId };
  }

  get runs(): ReadonlyMap<string, Run> {
    return this.#runs;
  }

  /** Whether a run has not come to its settling yet. */
  isRunning(): boolean {
    return [...this.#runs.values()].some(({ phase }) => phase !== "ending");
  }

  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Registers, sweeps, recovers, and begins to claim. Once; a start that failed is tried again. */
  start(): Promise<RecoveryReport> {
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async #start(): Promise<RecoveryReport> {
    const { clock, resumeWithinMs, limits, notifier } = this.settings;
    await this.metrics.load();
    this.#startedAt = new Date(clock.now()).toISOString();
    const known = await this.store.engines();
    await this.#beat();
    await this.changes.subscribe();
    const moved = await sweepAll(this.queue);
    const held = await holdStale(this.backend, clock.now(), resumeWithinMs, limits.approvalMs);
    // Sessions whose engine is gone are served here from now on.
    if (notifier !== undefined)
      for (const engine of known) if (!engine.alive) for (const session of engine.sessions) this.serve(session);
    const pending = await this.store.find({ kind: "dispatch", statuses: ["pending"], limit: 1 });
    this.changes.listen((hint) => this.#onHint(hint));
    this.poke();
    this.#schedule();
    return { engine: this.engineId, moved, held, queued: pending.total };
  }

  /** A session that calls here: its notices are delivered from here on. */
  serve(session: string, toolName: ToolName = (name) => name, tell = true): void {
    const { notifier } = this.settings;
    if (tell && notifier !== undefined && !this.delivery.serves(session))
      this.delivery.attach(session, notifier, toolName);
    if (this.#sessions.has(session)) return;
    this.#sessions.add(session);
    this.#beatAt = Number.NEGATIVE_INFINITY;
  }

  servesSession(session: string): boolean {
    return this.#sessions.has(session);
  }

  /** Kept until the task ends, for the tools that its subagent calls in this process. */
  remember(taskId: string, context: ContextInit): void {
    this.#tracing.remember(taskId);
    this.#contexts.keep(taskId, context);
  }

  contextFor({ id }: Task): ContextInit {
    return this.#contexts.of(id);
  }

  /** Looks for work soon. */
  poke(): void {
    this.#pump.poke();
  }

  async #claim(): Promise<void> {
    const agents = (await this.settings.agents.list()).map(({ name }) => name);
    for (let more = agents.length > 0; more && !this.closed; ) {
      const askedAt = performance.now();
      const claims = await this.queue.claim({
        by: this.actor,
        engine: this.engineId,
        kind: "dispatch",
        n: claimsAtOnce,
        agents,
        lanes: this.settings.lanes,
        step: this.settings.step,
        leaseMs: this.settings.limits.leaseMs,
      });
      for (const claim of claims) await this.#take(claim, askedAt);
      more = claims.length === claimsAtOnce;
    }
  }

  async #take(claim: Claim, askedAt: number): Promise<void> {
    const { task, resume } = claim;
    if (resume?.attached && this.#runs.get(task.id)?.adopt(claim)) return;
    const agent = await agentFor(this, claim, this.closed);
    if (agent === undefined) return;
    const spent = resume === null ? 0 : await spentBefore(this.store, task);
    const run = new Run(this, claim, agent, askedAt, spent);
    // A run of ours whose claim was lost, to a clock that jumped say, ends before the next one begins.
    const earlier = this.#runs.get(task.id);
    earlier?.stop({ kind: "lost" });
    this.#runs.set(task.id, run);
    this.#schedule();
    void this.#tracing
      .around(run, async () => {
        await earlier?.done;
        await run.execute();
      })
      .finally(() => {
        if (this.#runs.get(task.id) === run) this.#runs.delete(task.id);
        // An end that was written is told by its hint; any other frees its slot unheard.
        if (run.stopped !== undefined) this.poke();
      });
  }

  #onHint({ taskId, kind }: ChangeHint): void {
    if (taskId === undefined) {
      void this.#lookAtRuns();
      this.poke();
      void this.delivery.pass();
      return;
    }
    if (kind === "cancel_requested" || kind === "cancelled") void this.#lookAtRun(taskId);
    if (kind === "notice") void this.delivery.pass();
    if (!quietKinds.has(kind)) {
      this.poke();
      void this.delivery.pass();
    }
  }

  async #lookAtRuns(): Promise<void> {
    await Promise.all([...this.#runs.keys()].map((id) => this.#lookAtRun(id)));
  }

  /** Whether a run is still ours to run. */
  async #lookAtRun(taskId: string): Promise<void> {
    const run = this.#runs.get(taskId);
    if (run === undefined) return;
    try {
      stopByRow(run, await this.store.get(taskId));
    } catch (error) {
      this.#onFault(error); // the renewal tells, too
    }
  }

  #schedule(): void {
    if (this.closed) return;
    clearTimeout(this.#timer);
    const every = Math.min(this.settings.pollMs, this.settings.limits.leaseMs / 6);
    this.#timer = setTimeout(() => {
      this.#ticking = this.#tick().finally(() => this.#schedule());
    }, every);
    // Waiting for work alone does not keep a program alive.
    if (this.#runs.size === 0) this.#timer.unref();
  }

  /** What time makes due: leases, limits, the sweep, the beat. */
  async #tick(): Promise<void> {
    const mono = performance.now();
    const { pollMs, limits } = this.settings;
    const { leaseMs } = limits;
    for (const run of this.#runs.values()) if (run.lease.isOver(mono)) run.stop({ kind: "lost" });
    try {
      await renewLeases(this.queue, this.#runs.values(), leaseMs, (taskId) => this.#lookAtRun(taskId));
      await checkLimits(this.store, this.#runs.values(), this.settings.clock.now());
      if (performance.now() - this.#sweptAt >= pollMs) {
        this.#sweptAt = performance.now();
        await this.queue.sweep();
      }
      if (performance.now() - this.#beatAt >= leaseMs / 3) await this.#beat();
    } catch (error) {
      this.#onFault(error);
    }
    if (this.closed) return;
    this.poke();
    void this.delivery.pass();
  }

  async #beat(): Promise<void> {
    this.#beatAt = performance.now();
    const info: EngineInfo = {
      id: this.engineId,
      host: this.host,
      pid: process.pid,
      startedAt: this.#startedAt,
      lanes: this.settings.lanes,
      sessions: [...this.#sessions],
    };
    await this.store.beat(info);
  }

  usedBefore(session: string, task: Task): Promise<Usage | null> {
    return usedBefore(this.store, session, task);
  }

  warnOfBudget(run: Run): Promise<void> {
    return warnOfBudget(this.store, run, this.settings);
  }

  started(_run: Run): void {
    this.#schedule();
  }

  ended(run: Run, task: Task): void {
    if (!isEnded(task.state)) return;
    this.#contexts.forget(task.id);
    this.metrics.ended(run.agent.name, task.status, task.end?.reason ?? "done", task.durationMs);
    if (task.usage !== null) this.metrics.used(run.agent.name, task.usage);
  }

  async late(taskId: string, ref: ClaimRef, outcome: RunOutcome): Promise<void> {
    if (outcome.kind !== "done") return;
    this.metrics.lateResult();
    await keepLate(this.queue, taskId, ref, outcome.output);
  }

  fault(message: string): void {
    this.lastFault = message;
  }

  #onFault(error: unknown): void {
    this.fault(error instanceof Error ? error.message : String(error));
  }

  /** Ends every run, and gives what is unfinished. */
  async close(how: "release" | "cancel" | "wait"): Promise<readonly string[]> {
    if (this.#started === undefined) {
      this.#closing.abort();
      await this.changes.close();
      return [];
    }
    await Promise.allSettled([this.#started]);
    if (how === "wait") while (this.#runs.size > 0) await Promise.all([...this.#runs.values()].map(({ done }) => done));
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.#pump.close();
    const unfinished = [...this.#runs.keys()];
    await Promise.all([...this.#runs.values()].map((run) => endRun(this, run, how)));
    await this.#ticking;
    clearTimeout(this.#timer);
    await this.delivery.close();
    await this.changes.close();
    await this.store.retire(this.engineId).catch((error: unknown) => this.fault(String(error)));
    return unfinished;
  }
}
