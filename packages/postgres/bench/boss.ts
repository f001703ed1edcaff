import { inFlight } from "./work.ts";

const queue = "bench";

/** Jobs a second by `fetch` and `complete` alone, ten in flight; or why it cannot be measured here. */
export async function bossRate(connectionString: string, size: number): Promise<number | string> {
  const loaded = await import("pg-boss").then(
    (module) => module,
    (error: unknown) => `pg-boss does not load on Node ${process.version}: ${String(error)}`,
  );
  if (typeof loaded === "string") return loaded;
  const boss = new loaded.PgBoss({
    connectionString,
    schema: `bench_boss_${process.pid}`,
    max: 10,
    supervise: false,
    schedule: false,
  });
  boss.on("error", () => undefined);
  await boss.start();
  try {
    await boss.createQueue(queue);
    for (let at = 0; at < size; at += 500) {
      const jobs = Array.from({ length: Math.min(500, size - at) }, (_, index) => ({ data: { task: at + index } }));
      await boss.insert(queue, jobs);
    }
    const start = performance.now();
    const done = await inFlight(10, async () => {
      const [job] = await boss.fetch(queue, { batchSize: 1 });
      if (job === undefined) return 0;
      await boss.complete(queue, job.id, { text: "done" });
      return 1;
    });
    return (1_000 * done) / (performance.now() - start);
  } finally {
    await boss.stop({ graceful: false });
  }
}
