import type { TaskBackend } from "@toolhaft/tasks";
import type { StoreUnderTest } from "@toolhaft/tasks/contract";
import { postgresTasks } from "../src/tasks.ts";
import { asAdmin, newSchema, sharedPool } from "./setting.ts";

/** Of this file; emptied for each store, since to make its tables takes longer than a case. */
const schema = newSchema();
const tables =
  "task, dependency, attempt, chunk, event, notice, tally, approval, usage, budget, reservation, engine, doc";
let made = false;

/** A store with nothing in it, on a clock of the server that stands still until it is moved. */
export async function openPostgres(): Promise<StoreUnderTest> {
  if (made)
    await asAdmin(
      tables
        .split(", ")
        .map((table) => `DELETE FROM "${schema}".${table}`)
        .reverse()
        .join("; "),
    );
  const open: TaskBackend[] = [];
  const make = (): TaskBackend => {
    const backend = postgresTasks({ pool: sharedPool, schema });
    open.push(backend);
    return backend;
  };
  const backend = make();
  await backend.store.engines();
  if (!made) await stopClock(schema);
  made = true;
  return {
    backend,
    another: async () => make(),
    pass: async (ms) => void (await asAdmin(`UPDATE "${schema}".test_clock SET at = at + ${ms}`)),
    async close() {
      await Promise.all(open.map((one) => one.close()));
    },
  };
}

/** The one function by which a store asks for the time answers from a row of this table from now on. */
async function stopClock(schema: string): Promise<void> {
  await asAdmin(`CREATE TABLE "${schema}".test_clock AS SELECT "${schema}".clock_ms() AS at;
    CREATE OR REPLACE FUNCTION "${schema}".clock_ms() RETURNS bigint LANGUAGE sql VOLATILE
    AS $$SELECT at FROM "${schema}".test_clock$$`);
}
