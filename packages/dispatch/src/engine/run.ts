import { setMaxListeners } from "node:events";
import { isToolError } from "@toolhaft/core";
import type { ApprovalDecision, Claim, ClaimRef, Edge, Task, TimeLimits } from "@toolhaft/tasks";
import type { AgentSpec } from "../agents.ts";
import { judge } from "../approval.ts";
import { mergeLimits } from "../limits.ts";
import { priced } from "../prices.ts";
import type { RunHandle, RunOutcome, RunRequest, RunSink } from "../runner.ts";
import { Adoption } from "./adoption.ts";
import { usedUp } from "./budget-warning.ts";
import { checked, isHandle } from "./checked.ts";
import { decisionOn } from "./decision.ts";
import type { RunEnvironment } from "./environment.ts";
import { Lease } from "./lease.ts";
import { untilAbandoned } from "./patience.ts";
import { Reports } from "./reports.ts";
import { requestOf } from "./request.ts";
import { Said } from "./said.ts";
import { settle } from "./settle.ts";
import { sinkOf } from "./sink.ts";
import { overLimit, type RunClock, RunStopped, type Stop } from "./stop.ts";

/** One attempt on its way: a claim, its runner, and everything that can end it. */
export class Run implements RunClock {
  readonly taskId: string;
  readonly attempt: number;
  readonly task: Task;
  readonly agent: AgentSpec;
  readonly lease: Lease;
  readonly limits: TimeLimits;
  readonly claim: Claim;
  phase: RunClock["phase"] = "starting";
  claimedAt: number;
  startedAt: number | null = null;
  lastSign: number;
  stopped: Stop | undefined;
  /** What it did when it was stopped. */
  stoppedWhile: RunClock["phase"] | undefined;
  /** Calls of the sink after the end. */
  late = 0;
  /** Whether everything is settled, and the runner with it. */
  readonly done: Promise<void>;

  readonly #env: RunEnvironment;
  readonly #controller = new AbortController();
  readonly #reports: Reports;
  #ref: ClaimRef;
  #token: string;
  #session: string | null;
  #handle: RunHandle | undefined;
  #starting: Promise<void> | undefined;
  readonly #said = new Said();
  #waitingSince = 0;
  /** Active time of the attempt before this run, in milliseconds. */
  readonly #spentBefore: number;
  readonly #adoption = new Adoption();
  #finish: () => void = () => undefined;

  constructor(env: RunEnvironment, claim: Claim, agent: AgentSpec, askedAt: number, spentBefore: number) {
    const { task } = claim;
    this.#env = env;
    this.claim = claim;
    this.task = task;
    this.taskId = task.id;
    this.attempt = task.attempt;
    this.agent = agent;
    this.limits = mergeLimits(env.settings.limits, agent.limits, claim.terms.limits);
    this.lease = new Lease(env.settings.limits.leaseMs, askedAt);
    this.#ref = { taskId: claim.taskId, fence: claim.fence };
    this.#token = claim.token;
    this.#spentBefore = spentBefore;
    this.claimedAt = env.settings.clock.now();
    this.lastSign = this.claimedAt;
    const goesOn = agent.runner.caps.resume;
    this.#session = goesOn ? (claim.resume?.session ?? null) : null;
    this.#reports = new Reports(
      {
        store: env.store,
        taskId: this.taskId,
        attempt: this.attempt,
        ref: () => this.#ref,
        lost: () => this.stop({ kind: "lost" }),
        counted: () => this.#checkBudget(),
      },
      env.settings.step,
    );
    // Every tool that the subagent calls at the same time listens to it.
    setMaxListeners(0, this.#controller.signal);
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  get ref(): ClaimRef {
    return this.#ref;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends the run; the first reason counts. */
  stop(why: Stop): void {
    if (this.stopped !== undefined || this.phase === "ending") return;
    this.stopped = why;
    this.stoppedWhile = this.phase;
    this.#controller.abort(new RunStopped(why.kind));
  }

  /** What the clocks say now. */
  checkLimits(now: number): Stop | undefined {
    return overLimit(this, this.limits, now);
  }

  /** A child that it waits for works: that is a sign of life. */
  signOfLife(): void {
    this.lastSign = this.#env.settings.clock.now();
  }

  /** The approved task was claimed again: the run that waits in `ask` goes on with the new claim. */
  adopt(claim: Claim): boolean {
    return this.#adoption.give(claim);
  }

  /** Runs to the end and settles; never rejects. */
  async execute(): Promise<void> {
    const { runner } = this.agent;
    try {
      const outcome = await untilAbandoned(this.#call(), this.signal, this.limits.cancelGraceMs, (outcome) => {
        void this.#env.late(this.taskId, this.#ref, outcome);
      });
      await this.#reports.flush();
      this.phase = "ending";
      // Runs that end in the same turn of the event loop are settled in one transaction of the store.
      await new Promise((turn) => setImmediate(turn));
      await settle(this.#env, this, outcome, this.#said.text);
    } catch (error) {
      this.#env.fault(`${runner.name}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      this.phase = "ending";
      this.#finish();
    }
  }

  async #call(): Promise<RunOutcome> {
    const { runner } = this.agent;
    try {
      await this.#stopOrphan();
      const request = await this.#request();
      const sink = this.#sink();
      const { handle, why } = this.claim.resume ?? {};
      // Only what was interrupted may still be there; what had ended is done anew.
      const interrupted = why === "lost" || why === "release";
      if (interrupted && runner.caps.reattach && runner.reattach !== undefined && isHandle(handle)) {
        const picked = await runner.reattach(handle, request, sink, this.signal);
        if (picked !== "lost") return checked(picked);
      }
      return checked(await runner.run(request, sink, this.signal));
    } catch (error) {
      const message = isToolError(error) || error instanceof Error ? error.message : String(error);
      return { kind: "failed", message: message || "the runner threw without a message", retryable: false };
    }
  }

  /** What an earlier engine left running is ended before the work is done again. */
  async #stopOrphan(): Promise<void> {
    const { resume } = this.claim;
    const { runner } = this.agent;
    if (resume === null || resume.why === "continue" || !isHandle(resume.handle)) return;
    if (runner.caps.reattach && runner.reattach !== undefined) return;
    if (resume.handle.host !== undefined && resume.handle.host !== this.#env.host)
      await this.#reports.note({ kind: "status", text: `an earlier run on ${resume.handle.host} may still be there` });
    await runner.reap?.(resume.handle);
  }

  #request(): Promise<RunRequest> {
    const run = this;
    return requestOf(this.#env, {
      claim: this.claim,
      agent: this.agent,
      session: this.#session,
      signal: this.signal,
      leftMs: this.limits.wallMs - this.#spentBefore,
      get token() {
        return run.#token;
      },
    });
  }

  #sink(): RunSink {
    return sinkOf({
      isOver: () => this.phase === "ending",
      onLate: () => {
        this.late += 1;
      },
      session: (id, handle) => this.#named(id, handle),
      handle: (handle) => {
        this.#handle = handle;
        void this.#reports.note({ kind: "status", text: "the runner started" }, { handle });
      },
      sign: () => this.#sign(),
      said: (text) => this.#said.add(text),
      price: (total) => priced(total, this.agent.runner.model, this.#env.settings.prices),
      ask: (ask) => this.#ask(ask),
      reports: this.#reports,
    });
  }

  /** The runner has named its session: the first time starts the task. */
  async #named(id: string, handle: RunHandle | undefined): Promise<void> {
    const changed = id !== this.#session || handle !== undefined;
    this.#session = id;
    if (handle !== undefined) this.#handle = handle;
    this.lastSign = this.#env.settings.clock.now();
    if (this.#starting === undefined) await this.#start();
    else if (changed)
      await this.#reports.note(
        { kind: "status", text: `session ${id}` },
        { sessionId: id, ...(handle !== undefined && { handle }) },
      );
  }

  #sign(): void {
    this.lastSign = this.#env.settings.clock.now();
    if (this.#starting === undefined) void this.#start();
  }

  #start(): Promise<void> {
    this.#starting = this.#reports.inOrder(async () => {
      await this.#apply({
        kind: "start",
        key: `${this.taskId}:${this.#ref.fence}:start`,
        ref: this.#ref,
        sessionId: this.#session,
        ...(this.#handle !== undefined && { handle: this.#handle }),
      });
      const now = this.#env.settings.clock.now();
      this.startedAt ??= now - this.#spentBefore;
      this.lastSign = now;
      if (this.phase === "starting") this.phase = "running";
      this.#env.started(this);
    });
    return this.#starting;
  }

  async #apply(edge: Edge): Promise<Task | undefined> {
    const applied = await this.#env.queue.apply(this.taskId, edge);
    if (applied.ok) return applied.task;
    const { task } = applied;
    if (task?.cancelRequested) this.stop({ kind: "cancel", ...task.cancelRequested });
    else this.stop({ kind: "lost" });
    return undefined;
  }

  /** Puts a question, waits for the decision, and goes on once a slot is free. */
  async #ask(asked: Parameters<RunSink["ask"]>[0]): Promise<ApprovalDecision> {
    const { settings, store } = this.#env;
    const ask = { ...asked, taskId: this.taskId, attempt: this.attempt, agent: this.agent.name };
    const known = await decisionOn(store, this, ask.key);
    if (known !== undefined) return known;
    const judged = await judge(settings.approval, ask, settings.interactive);
    if ("decision" in judged) return judged.decision;
    if (this.#starting === undefined) await this.#start();
    const next = this.#adoption.next(this.signal);
    await this.#reports.inOrder(async () => {
      this.#waitingSince = settings.clock.now();
      this.phase = "waiting";
      await this.#apply({
        kind: "ask",
        key: `${this.taskId}:${this.#ref.fence}:ask:${ask.key}`,
        ref: this.#ref,
        approval: judged.approval,
        attached: true,
      });
    });
    const claim = await next;
    await this.#goOn(claim);
    const decided = await decisionOn(store, this, ask.key);
    if (decided === undefined) throw new Error("the decision is not in the store");
    return decided;
  }

  async #goOn(claim: Claim): Promise<void> {
    const now = this.#env.settings.clock.now();
    const waited = now - this.#waitingSince;
    this.#ref = { taskId: claim.taskId, fence: claim.fence };
    this.#token = claim.token;
    this.lease.renewed(performance.now());
    if (this.startedAt !== null) this.startedAt += waited;
    this.claimedAt = now;
    this.phase = "starting";
    await this.#start();
  }

  async #checkBudget(): Promise<void> {
    if (this.claim.reserved === null || this.phase === "ending") return;
    await this.#env.warnOfBudget(this);
    const message = await usedUp(this.#env.store, this.taskId);
    if (message !== undefined) this.stop({ kind: "exceed", message });
  }
}
