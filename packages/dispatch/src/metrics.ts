import type { Meter, Tracer } from "@opentelemetry/api";
import type { LaneSnapshot, Usage } from "@toolhaft/tasks";
import type { Counter, Gauge, Histogram, Registry } from "prom-client";

export interface MetricsOptions {
  /** @default a registry of this dispatcher's own */
  registry?: Registry;
  /** @default that of `@opentelemetry/api`, where it is installed */
  tracer?: Tracer;
  meter?: Meter;
}

const prefix = "toolhaft_dispatch_";

const counters = {
  launched: { help: "Tasks launched", labels: ["agent", "mode"] },
  ended: { help: "Attempts ended", labels: ["agent", "status", "reason"] },
  rejected: { help: "Launches refused", labels: ["reason"] },
  retried: { help: "Further attempts started", labels: ["agent"] },
  lease_lost: { help: "Claims lost", labels: [] },
  late_results: { help: "Results that came after their claim was over", labels: [] },
  notices: { help: "Notices handled", labels: ["kind", "outcome"] },
  approvals: { help: "Approvals decided", labels: ["decision"] },
  tokens: { help: "Tokens used", labels: ["agent", "type"] },
  cost_usd: { help: "Money spent", labels: ["agent"] },
} as const;
type CounterName = keyof typeof counters;
type Labels = Readonly<Record<string, string>>;

const seconds = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1_800, 3_600];

interface Instruments {
  registry: Registry;
  counters: ReadonlyMap<CounterName, Counter>;
  queueWait: Histogram;
  duration: Histogram;
}

/** Everything that is counted in this process. The library is loaded when the first engine starts. */
export class Metrics {
  readonly #options: MetricsOptions;
  readonly #lanes: () => Promise<readonly LaneSnapshot[]>;
  #instruments: Instruments | undefined;
  #loading: Promise<Instruments> | undefined;

  /** @param lanes Read for the gauges at each exposition. */
  constructor(options: MetricsOptions, lanes: () => Promise<readonly LaneSnapshot[]>) {
    this.#options = options;
    this.#lanes = lanes;
  }

  load(): Promise<Instruments> {
    this.#loading ??= this.#make().then((made) => {
      this.#instruments = made;
      return made;
    });
    return this.#loading;
  }

  count(name: CounterName, labels: Labels = {}, by = 1): void {
    if (by > 0) this.#instruments?.counters.get(name)?.inc(labels, by);
    if (by > 0) this.#meterCounter(name)?.add(by, labels);
  }

  lateResult(): void {
    this.count("late_results");
  }

  ended(agent: string, status: string, reason: string, durationMs: number | null): void {
    this.count("ended", { agent, status, reason });
    if (durationMs === null) return;
    this.#instruments?.duration.observe({ agent, status }, durationMs / 1_000);
    this.#options.meter
      ?.createHistogram(`${prefix}duration_seconds`, { unit: "s" })
      .record(durationMs / 1_000, { agent, status });
  }

  queueWait(ms: number): void {
    this.#instruments?.queueWait.observe(Math.max(0, ms) / 1_000);
    this.#options.meter?.createHistogram(`${prefix}queue_wait_seconds`, { unit: "s" }).record(Math.max(0, ms) / 1_000);
  }

  used(agent: string, usage: Usage): void {
    const types = {
      input: usage.inputTokens,
      output: usage.outputTokens,
      reasoning: usage.reasoningTokens,
      cache_read: usage.cacheReadTokens,
      cache_write: usage.cacheWriteTokens,
    };
    for (const [type, amount] of Object.entries(types)) this.count("tokens", { agent, type }, amount ?? 0);
    this.count("cost_usd", { agent }, usage.costUsd ?? 0);
  }

  async text(): Promise<string> {
    return (await this.load()).registry.metrics();
  }

  async json(): Promise<unknown[]> {
    return (await this.load()).registry.getMetricsAsJSON();
  }

  #meterCounter(name: CounterName) {
    return this.#options.meter?.createCounter(`${prefix}${name}_total`, { description: counters[name].help });
  }

  async #make(): Promise<Instruments> {
    const prom = await import("prom-client");
    const registry = this.#options.registry ?? new prom.Registry();
    const registers = [registry];
    const made = new Map<CounterName, Counter>();
    for (const name of Object.keys(counters) as CounterName[]) {
      const { help, labels } = counters[name];
      made.set(
        name,
        new prom.Counter({ name: `${prefix}${name}_total`, help, labelNames: [...labels] as string[], registers }),
      );
    }
    this.#gauges(prom.Gauge, registers);
    return {
      registry,
      counters: made,
      queueWait: new prom.Histogram({
        name: `${prefix}queue_wait_seconds`,
        help: "From the queue to the claim",
        buckets: seconds,
        registers,
      }),
      duration: new prom.Histogram({
        name: `${prefix}duration_seconds`,
        help: "From start to end",
        labelNames: ["agent", "status"],
        buckets: seconds,
        registers,
      }),
    };
  }

  /** Read from the store, so they are true of all engines on it. */
  #gauges(Gauge: typeof import("prom-client").Gauge, registers: Registry[]): void {
    const lanes = this.#lanes;
    const make = (name: string, help: string, labelNames: string[], set: (gauge: Gauge, lane: LaneSnapshot) => void) =>
      new Gauge({
        name: `${prefix}${name}`,
        help,
        labelNames,
        registers,
        async collect() {
          this.reset();
          for (const lane of await lanes()) set(this, lane);
        },
      });
    make("active", "Tasks that hold a slot", ["lane", "mode"], (gauge, { lane, active }) => {
      gauge.set({ lane, mode: "sync" }, active.sync);
      gauge.set({ lane, mode: "background" }, active.background);
    });
    make("limit", "Slots", ["lane"], (gauge, { lane, limit }) => gauge.set({ lane }, limit));
    make("queued", "Tasks that wait", ["lane"], (gauge, { lane, queued }) => gauge.set({ lane }, queued));
  }
}
