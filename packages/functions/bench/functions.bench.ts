import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseFunction } from "@toolhaft/asset-format";
import { openDatabase } from "@toolhaft/sqlite";
import { defineBench } from "@toolhaft/testing";
import {
  createFunctions,
  emptyState,
  type FunctionSpec,
  memoryArtifacts,
  reduceStep,
  sqliteStore,
  staticSpecs,
} from "../src/index.ts";
import { migrations } from "../src/stores/schema.ts";

const session = "ses_bench";
const active = 20;

function specs(): FunctionSpec[] {
  return Array.from({ length: active }, (_, n) => {
    const { value } = parseFunction(
      `---\ndescription: d\ngate: {any: [user_approval, turn_count(0)]}\ncontinue_until: evidence_met\nrequires_evidence: [done]\nobserve: [{on: tool_after, tool: bash, set_evidence: ran}]\n---\nDo it.`,
      `f${n}.md`,
    );
    if (!value) throw new Error("the function of the bench does not parse");
    return { ...value, id: value.name, role: null, problems: [] };
  });
}

/** A step and a signal, beside a bare transaction that writes the same rows into a file of the same form. */
export default defineBench(async (bench) => {
  const folder = mkdtempSync(join(tmpdir(), "toolhaft-bench-functions-"));
  const list = specs();
  const family = createFunctions({
    directory: folder,
    path: join(folder, "functions.db"),
    specs: staticSpecs(list),
    artifacts: memoryArtifacts(),
  });
  const bare = await openDatabase({ path: join(folder, "bare.db"), family: "functions", migrations });
  try {
    for (const { id } of list) await family.engine.step(session, { type: "activate", function: id });
    let bareStep = 0;
    let bareSignal = 0;
    // The very rows of a step that pauses all of them, and of its end.
    const { signal: first } = await family.engine.step(session, {
      type: "signal",
      signal: "need_approval",
      by: "worker",
    });
    const store = sqliteStore({ path: join(folder, "functions.db") });
    const { functions: stored, ...row } = await store.read(session);
    const records = Object.values(stored).map((record) => JSON.stringify(record));
    const entry = JSON.stringify((await store.steps(session)).at(-1));
    await store.close();
    await family.engine.step(session, { type: "resolve", seq: first?.seq ?? -1, by: "human" });
    const writeRows = () => {
      bareStep++;
      const state = JSON.stringify({ ...row, step: bareStep });
      bare.run(
        "INSERT INTO sessions(session, step, at, state) VALUES(?, ?, ?, ?) ON CONFLICT(session) DO UPDATE SET step = excluded.step, at = excluded.at, state = excluded.state",
        [session, bareStep, bareStep, state],
      );
      for (const [index, record] of records.entries())
        bare.run(
          "INSERT INTO functions(session, id, record) VALUES(?, ?, ?) ON CONFLICT(session, id) DO UPDATE SET record = excluded.record",
          [session, `f${index}`, record],
        );
      bare.run("INSERT INTO steps(session, step, at, entry) VALUES(?, ?, ?, ?)", [session, bareStep, bareStep, entry]);
    };
    await bench.compare({
      name: `a turn with ${active} active functions`,
      ours: () => family.engine.step(session, { type: "turn" }),
      baseline: { name: "a bare transaction with the same rows", run: () => bare.write(writeRows) },
      by: "wall",
      target: { max: 3 },
    });
    const effects = JSON.stringify(list.map(({ id }) => ({ id, effect: "paused" })));
    await bench.compare({
      name: `a signal that pauses ${active} active functions, and its resolution`,
      async ours() {
        const event = { type: "signal", signal: "need_approval", payload: { question: "Go?" }, by: "worker" } as const;
        const { signal } = await family.engine.step(session, event);
        await family.engine.step(session, { type: "resolve", seq: signal?.seq ?? -1, by: "human" });
      },
      baseline: {
        name: "two bare transactions with the same rows",
        async run() {
          await bare.write(() => {
            writeRows();
            bareSignal++;
            bare.run(
              "INSERT INTO signals(id, session, at, type, class, payload, agent, call_id, expires_at, functions) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
              [
                `sig_${bareSignal}`,
                session,
                1,
                "need_approval",
                "pausing",
                '{"question":"Go?"}',
                "worker",
                null,
                null,
                effects,
              ],
            );
          });
          await bare.write(() => {
            writeRows();
            bare.run("INSERT INTO resolutions(session, pause, at, kind, by) VALUES(?, ?, ?, ?, ?)", [
              session,
              bareSignal,
              1,
              "resolved",
              "human",
            ]);
          });
        },
      },
      by: "wall",
      target: { max: 3 },
    });
    const state = list.reduce(
      (before, { id }) =>
        reduceStep(before, { type: "activate", function: id }, list, {
          now: 1,
          artifacts: {},
          needles: [],
          text: null,
          seq: 1,
        }).state,
      emptyState(session),
    );
    await bench.compare({
      name: "the machine alone, one turn",
      ours: () => reduceStep(state, { type: "turn" }, list, { now: 2, artifacts: {}, needles: [], text: null, seq: 1 }),
      baseline: { name: "JSON of the same state, written and parsed", run: () => JSON.parse(JSON.stringify(state)) },
    });
  } finally {
    bare.close();
    await family.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
