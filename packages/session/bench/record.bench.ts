import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@toolhaft/sqlite";
import { defineBench } from "@toolhaft/testing";
import { recordSession } from "../src/index.ts";

const appends = 2_000;
const rounds = 5;

/** One message a call against one bare insert of the same text a transaction, on the same disk. */
export default defineBench(async (bench) => {
  const directory = mkdtempSync(join(tmpdir(), "toolhaft-bench-record-"));
  const text = "The parser skips the newline; the test is in src/parse.test.ts. ".repeat(4);
  try {
    await using writer = await recordSession({ directory });
    await using db = await openDatabase({
      path: join(directory, "bare.db"),
      family: "bench",
      migrations: [{ version: 1, name: "one table", up: "CREATE TABLE m(id TEXT PRIMARY KEY, text TEXT NOT NULL)" }],
    });
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      ours.push(
        await timed(async (n) => {
          await writer.append([
            { id: `m${round}-${n}`, role: "assistant", parts: [{ kind: "text", text: `${n} ${text}` }] },
          ]);
        }),
      );
      bare.push(
        await timed(async (n) => {
          await db.write(
            () => void db.run("INSERT INTO m(id, text) VALUES (?, ?)", [`m${round}-${n}`, `${n} ${text}`]),
          );
        }),
      );
    }
    await writer.flush();
    bench.figure({
      name: "recording: append of one message",
      ours: Math.min(...ours) / appends,
      baseline: { name: "one bare insert", value: Math.min(...bare) / appends },
      unit: "ms",
      target: { max: 3 },
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

async function timed(work: (n: number) => Promise<void>): Promise<number> {
  const start = performance.now();
  for (let n = 0; n < appends; n += 1) await work(n);
  return performance.now() - start;
}
