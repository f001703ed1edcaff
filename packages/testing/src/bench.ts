import { cpuUsage } from "node:process";

/** A ratio that must hold: `ours / baseline` at most `max`, at least `min`. */
export type Target = { max: number; min?: number } | { min: number };

/** What is timed. A promise is awaited before the clock stops. */
export type Work = () => unknown;

export interface Comparison {
  name: string;
  ours: Work;
  /** The peer, by the name that is printed; timed in turns with ours. */
  baseline: { name: string; run: Work };
  /** Left out: the row is printed and never fails. */
  target?: Target;
  /** CPU of this process; take "wall" where the work is done by children, disks or peers. @default "cpu" */
  by?: "cpu" | "wall";
  /** Samples of each side. @default 21, fewer when one run takes over 200 ms, never under 5 */
  rounds?: number;
  /** Calls of `ours` or `baseline` in one sample. @default as many as take 10 ms */
  batch?: number;
  /** Runs before each sample of either side, untimed. */
  before?: () => unknown;
}

/** A row whose two numbers the bench took by itself: tokens, bytes, recall, calls a second. */
export interface Figure {
  name: string;
  ours: number;
  baseline: { name: string; value: number };
  unit: string;
  target?: Target;
}

export interface BenchRow {
  name: string;
  ours: number;
  baseline: { name: string; value: number };
  /** "ms" for timed rows: median CPU, or least wall time, of one call. */
  unit: string;
  /** Both clocks of a timed row, in ms per call. */
  timed?: { by: "cpu" | "wall"; ours: Timing; baseline: Timing; rounds: number; batch: number };
  /** ours / baseline. */
  ratio: number;
  target?: Target;
  ok: boolean;
}

export interface Timing {
  cpuMedian: number;
  wallMin: number;
}

export interface BenchTable {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly (string | number)[])[];
}

export interface BenchReport {
  rows: readonly BenchRow[];
  tables: readonly BenchTable[];
  skipped: readonly { name: string; reason: string }[];
  notes: readonly string[];
}

/** What a bench file is given. Everything it prints goes through here. */
export interface Bench {
  /** What stood after the family on the command line. */
  readonly flags: readonly string[];
  /** Times ours and the baseline in turns and adds a row. */
  compare(comparison: Comparison): Promise<BenchRow>;
  /** Adds a row of two given numbers. */
  figure(figure: Figure): BenchRow;
  /** Adds a table of any shape: tokens, quality, sizes. */
  table(title: string, columns: readonly string[], rows: readonly (readonly (string | number)[])[]): void;
  /** Says that rows could not be measured here and why. */
  skip(name: string, reason: string): void;
  /** A line printed below the tables: what was measured on what. */
  note(text: string): void;
}

export interface BenchFile {
  run(flags: readonly string[]): Promise<BenchReport>;
}

/**
 * Declares a bench file; its default export is run by `pnpm bench <family>`.
 *
 * @example
 * export default defineBench(async (bench) => {
 *   await bench.compare({ name: "split", ours: () => split(text), baseline: { name: "String.split", run: () => text.split("\n") }, target: { max: 1.1 } });
 * });
 */
export function defineBench(declare: (bench: Bench) => unknown): BenchFile {
  return {
    async run(flags) {
      const rows: BenchRow[] = [];
      const tables: BenchTable[] = [];
      const skipped: { name: string; reason: string }[] = [];
      const notes: string[] = [];
      const add = (row: BenchRow) => {
        rows.push(row);
        return row;
      };
      await declare({
        flags,
        compare: async (comparison) => add(await compare(comparison)),
        figure: (figure) => add(judge(figure)),
        table: (title, columns, cells) => void tables.push({ title, columns, rows: cells }),
        skip: (name, reason) => void skipped.push({ name, reason }),
        note: (text) => void notes.push(text),
      });
      return { rows, tables, skipped, notes };
    },
  };
}

/** Whether a ratio meets its target; a ratio that is no number never does. */
export function meets(ratio: number, target: Target | undefined): boolean {
  if (target === undefined) return true;
  if (!Number.isFinite(ratio)) return false;
  const { max = Number.POSITIVE_INFINITY, min = Number.NEGATIVE_INFINITY }: { max?: number; min?: number } = target;
  return ratio <= max && ratio >= min;
}

function judge(figure: Figure): BenchRow {
  const ratio = figure.ours / figure.baseline.value;
  return { ...figure, ratio, ok: meets(ratio, figure.target) };
}

/**
 * Both sides in one process, sample by sample in turns, so that a slow minute of the machine hits both. CPU is judged by
 * the median, wall time by the minimum: the first is steady on a busy machine, the second is what an idle one would show.
 */
async function compare(comparison: Comparison): Promise<BenchRow> {
  const { ours, baseline, by = "cpu", before } = comparison;
  const single = Math.max(await settle(ours, before), await settle(baseline.run, before));
  const batch = comparison.batch ?? Math.max(1, Math.ceil(10 / Math.max(single, 1e-5)));
  const rounds = comparison.rounds ?? Math.max(5, Math.min(21, Math.floor(4_000 / Math.max(single * batch, 1))));
  const sides = { ours: [] as Sample[], baseline: [] as Sample[] };
  for (let round = 0; round < rounds; round++) {
    const first = round % 2 === 0;
    await before?.();
    if (first) sides.ours.push(await sample(ours, batch));
    else sides.baseline.push(await sample(baseline.run, batch));
    await before?.();
    if (first) sides.baseline.push(await sample(baseline.run, batch));
    else sides.ours.push(await sample(ours, batch));
  }
  const timed = { by, ours: summary(sides.ours), baseline: summary(sides.baseline), rounds, batch };
  const value = (timing: Timing) => (by === "cpu" ? timing.cpuMedian : timing.wallMin);
  const row = judge({
    name: comparison.name,
    ours: value(timed.ours),
    baseline: { name: baseline.name, value: value(timed.baseline) },
    unit: "ms",
    ...(comparison.target && { target: comparison.target }),
  });
  return { ...row, timed };
}

/** Runs a side until it is warm (60 ms or 3 calls) and gives the least time of one call in ms. */
async function settle(work: Work, before: (() => unknown) | undefined): Promise<number> {
  const end = performance.now() + 60;
  let least = Number.POSITIVE_INFINITY;
  let batch = 1;
  for (let calls = 0; calls < 3 || performance.now() < end; calls++) {
    await before?.();
    const taken = await sample(work, batch);
    least = Math.min(least, taken.wall);
    if (taken.wall * batch < 1) batch *= 2;
  }
  return least;
}

interface Sample {
  cpu: number;
  wall: number;
}

async function sample(work: Work, batch: number): Promise<Sample> {
  globalThis.gc?.();
  const wallStart = performance.now();
  const cpuStart = cpuUsage();
  for (let call = 0; call < batch; call++) {
    const given = work();
    if (given instanceof Promise) await given;
  }
  const cpu = cpuUsage(cpuStart);
  return { cpu: (cpu.user + cpu.system) / 1_000 / batch, wall: (performance.now() - wallStart) / batch };
}

function summary(samples: readonly Sample[]): Timing {
  const cpus = samples.map(({ cpu }) => cpu).sort((a, b) => a - b);
  return { cpuMedian: cpus[cpus.length >> 1] ?? Number.NaN, wallMin: Math.min(...samples.map(({ wall }) => wall)) };
}
