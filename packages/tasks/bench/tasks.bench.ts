import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineBench } from "@toolhaft/testing";
import { sqliteTasks } from "../src/index.ts";
import { bareQueue } from "./bare.ts";
import { heapAfter } from "./heap.ts";
import { postMany, task, work } from "./ours.ts";
import { workTogether } from "./together.ts";

export default defineBench(async (bench) => {
  const quick = bench.flags.includes("--quick");
  const folder = mkdtempSync(join(tmpdir(), "toolhaft-bench-tasks-"));
  try {
    await oneProcess(quick ? 2_000 : 20_000);
    await together(quick ? 1_000 : 10_000);
    await heap(quick ? 100 : 1_000);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  bench.note(
    "S is a queue on bare better-sqlite3 in the same run: one table with unique ids, priority and fence, one statement to claim (update-returning) and one to finish, synchronous=NORMAL as ours. A ratio is ours / S, so 0.4 S is 2.5.",
  );
  bench.skip("claims of ten beside bare PostgreSQL (G)", "it needs a PostgreSQL server: pnpm bench postgres");

  async function oneProcess(size: number): Promise<void> {
    const backend = sqliteTasks({ path: join(folder, "queue.db") });
    const bare = bareQueue(join(folder, "bare.db"));
    const refill = async (): Promise<void> => {
      await postMany(backend, 500);
      bare.postMany(500);
    };
    for (let have = 0; have < size; have += 500) await refill();
    const rounds = quick ? 3 : 15;
    // Targets are ours over S in time: 1 / 0.4 and 1 / 0.55.
    for (const [count, batch, max] of [
      [1, 30, 2.5],
      [10, 10, 1.82],
    ] as const) {
      await bench.compare({
        name: `claim + complete, claims of ${count === 1 ? "one" : "ten"}`,
        ours: () => work(backend, count),
        baseline: { name: "S", run: () => bare.work(count) },
        before: refill,
        batch,
        rounds,
        target: { max },
      });
    }
    let posted = 0;
    await bench.compare({
      name: "post, one by one",
      ours: () => backend.queue.post([task(posted++)]),
      baseline: { name: "bare insert", run: () => bare.post() },
      batch: 50,
      rounds,
      target: { max: 2.5 },
    });
    await bench.compare({
      name: "post, 500 at a time",
      ours: () => postMany(backend, 500),
      baseline: { name: "bare inserts", run: () => bare.postMany(500) },
      batch: 4,
      rounds,
      target: { max: 2.5 },
    });
    bare.close();
    await backend.close();
  }

  /** Several processes on one store: CPU is that of all of them, time from the first task to the last. */
  async function together(size: number): Promise<void> {
    for (const processes of [1, 4]) {
      const backend = sqliteTasks({ path: join(folder, `ours-${processes}.db`) });
      const bare = bareQueue(join(folder, `bare-${processes}.db`));
      for (let have = 0; have < size; have += 500) {
        await postMany(backend, 500);
        bare.postMany(500);
      }
      await backend.close();
      bare.close();
      const ours = await workTogether("ours", join(folder, `ours-${processes}.db`), processes);
      const theirs = await workTogether("bare", join(folder, `bare-${processes}.db`), processes);
      const name = `claims of ten, ${processes} ${processes === 1 ? "process" : "processes"}`;
      bench.figure({
        name: `${name}, CPU of a task`,
        ours: ours.cpuMs,
        baseline: { name: "S", value: theirs.cpuMs },
        unit: "ms",
      });
      bench.figure({
        name: `${name}, time of a task`,
        ours: ours.wallMs,
        baseline: { name: "S", value: theirs.wallMs },
        unit: "ms",
      });
    }
  }

  async function heap(first: number): Promise<void> {
    const [before, after] = await heapAfter(join(folder, "heap.db"), [first, 10 * first]);
    if (before === undefined || after === undefined) {
      bench.skip("heap after ended tasks", "needs node --expose-gc");
      return;
    }
    bench.figure({
      name: `heap after ${(10 * first).toLocaleString("en")} ended tasks`,
      ours: after,
      baseline: { name: `after ${first.toLocaleString("en")}`, value: before },
      unit: "MB",
      target: { max: 1.3 },
    });
  }
});
