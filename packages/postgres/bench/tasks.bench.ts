import { type Bench, defineBench } from "@toolhaft/testing";
import { postgresTasks } from "../src/tasks.ts";
import { startServer } from "../test/server.ts";
import { bareQueue } from "./bare.ts";
import { bossRate } from "./boss.ts";
import { bullRate } from "./bull.ts";
import { pickUp } from "./pick-up.ts";
import { type Run, workTogether } from "./together.ts";
import { postMany, task } from "./work.ts";

/** A server of the bench: durable, as it is outside of tests. */
export default defineBench(async (bench) => {
  const quick = bench.flags.includes("--quick");
  const server = process.env.DATABASE_URL === undefined ? await startServer() : undefined;
  const url = process.env.DATABASE_URL ?? server?.url;
  if (url === undefined) {
    bench.skip("tasks on PostgreSQL", "no server can run here: set DATABASE_URL");
    return;
  }
  try {
    await beside(bench, url, quick);
    await posts(bench, url, quick);
    await latency(bench, url, quick);
  } finally {
    await server?.dispose();
  }
  bench.note(
    "G is a queue on bare pg in the same run: one table with priority, lease and fence, one SKIP LOCKED statement to claim and one to finish, prepared, fsync on. Figures are medians of interleaved runs.",
  );
});

let schemas = 0;
const newSchema = (): string => `bench_${process.pid}_${++schemas}`;

/** Throughput of claim and complete; both sides in turns, each run on tables of its own. */
async function beside(bench: Bench, url: string, quick: boolean): Promise<void> {
  const rounds = quick ? 1 : 5;
  const size = quick ? 500 : 5_000;
  const rows: { name: string; run: Run; least: number }[] = [
    { name: "claims of one, 1 process", run: { processes: 1, loops: 10, atOnce: 1 }, least: 0.7 },
    { name: "claims of one, 4 processes", run: { processes: 4, loops: 10, atOnce: 1 }, least: 0.7 },
    { name: "claims of ten, 1 process", run: { processes: 1, loops: 10, atOnce: 10 }, least: 1.3 },
  ];
  let ofOne = Number.NaN;
  for (const { name, run, least } of rows) {
    const ours: { rate: number; cpuMs: number }[] = [];
    const bare: { rate: number; cpuMs: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const own = async () => ours.push(await oursRate(url, size, run));
      const theirs = async () => bare.push(await bareRate(url, size, run));
      for (const turn of round % 2 === 0 ? [own, theirs] : [theirs, own]) await turn();
    }
    const rate = median(ours.map((one) => one.rate));
    if (run.processes === 1 && run.atOnce === 1) ofOne = rate;
    bench.figure({
      name,
      ours: rate,
      baseline: { name: "G", value: median(bare.map((one) => one.rate)) },
      unit: "tasks/s",
      target: { min: least },
    });
    bench.figure({
      name: `${name}, CPU of the workers for a task`,
      ours: median(ours.map((one) => one.cpuMs)),
      baseline: { name: "G", value: median(bare.map((one) => one.cpuMs)) },
      unit: "ms",
    });
  }
  const boss = await bossRate(url, size);
  if (typeof boss === "string") bench.skip("claims of one beside pg-boss", boss);
  else
    bench.figure({
      name: "claims of one, 1 process",
      ours: ofOne,
      baseline: { name: "pg-boss fetch and complete", value: boss },
      unit: "tasks/s",
      target: { min: 1.05 },
    });
  const bull = await bullRate(size);
  if (typeof bull === "string") bench.skip("claims of one beside BullMQ", bull);
  else
    bench.figure({
      name: "claims of one, 1 process",
      ours: ofOne,
      baseline: { name: "BullMQ, appendfsync always", value: bull },
      unit: "tasks/s",
    });
}

async function oursRate(url: string, size: number, run: Run) {
  const schema = newSchema();
  const backend = postgresTasks({ connectionString: url, schema });
  await postMany(backend, size);
  await backend.close();
  return workTogether("ours", url, schema, run);
}

async function bareRate(url: string, size: number, run: Run) {
  const schema = newSchema();
  const bare = await bareQueue(url, schema);
  await bare.post(size);
  await bare.close();
  return workTogether("bare", url, schema, run);
}

async function posts(bench: Bench, url: string, quick: boolean): Promise<void> {
  const backend = postgresTasks({ connectionString: url, schema: newSchema() });
  const bare = await bareQueue(url, newSchema());
  let posted = 0;
  const rounds = quick ? 3 : 15;
  await bench.compare({
    name: "post, one by one",
    ours: () => backend.queue.post([task(posted++)]),
    baseline: { name: "bare insert", run: () => bare.postOne() },
    by: "wall",
    batch: quick ? 10 : 50,
    rounds,
    target: { max: 2.5 },
  });
  await bench.compare({
    name: "post, 500 at a time",
    ours: () => {
      posted += 500;
      return postMany(backend, 500, posted);
    },
    baseline: { name: "bare inserts", run: () => bare.post(500) },
    by: "wall",
    batch: 2,
    rounds,
    target: { max: 2.5 },
  });
  await backend.close();
  await bare.close();
}

/** From the end of a task in one process to the word of it in another. */
async function latency(bench: Bench, url: string, quick: boolean): Promise<void> {
  const times = await pickUp(url, newSchema(), quick ? 20 : 200);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN;
  bench.table(
    "From a post to the claim in another process that waits, ms",
    ["p50", "p99"],
    [[at(0.5).toFixed(1), at(0.99).toFixed(1)]],
  );
  bench.figure({
    name: "word of a change in another process",
    ours: at(0.5),
    baseline: { name: "poll interval of 250 ms", value: 250 },
    unit: "ms",
    target: { max: 0.3 },
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
