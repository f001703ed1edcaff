import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { node22 } from "@toolhaft/testing/programs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { startFixture } from "./child.ts";
import { faults, openSpoilt } from "./consumer.ts";
import { openNotes, temporaryFolder } from "./temporary.ts";

const { command, problem } = await node22();
if (problem !== undefined) console.warn(`SKIPPED SQLite on Node 22: ${problem}`);
const newer = command ?? process.execPath;
const root = fileURLToPath(new URL("../../../", import.meta.url));

const report = z.object({
  success: z.boolean(),
  testResults: z.array(z.object({ assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })) })),
});

describe.skipIf(problem !== undefined)("on Node 22", () => {
  it("the driver contract holds for the runtime's own SQLite", async () => {
    const vitest = join(createRequire(join(root, "package.json")).resolve("vitest/package.json"), "..", "vitest.mjs");
    const words = ["run", "--config", "vitest.workspace.ts", "--project", "sqlite", "--reporter", "json"];
    const output = await new Promise<string>((resolve) => {
      const env = { ...process.env, TOOLHAFT_LONG: "" };
      const options = { cwd: root, env, maxBuffer: 64 * 1_024 * 1_024 };
      execFile(newer, [vitest, ...words, "packages/sqlite/test/drivers.test.ts"], options, (_error, out) =>
        resolve(out),
      );
    });
    const { success, testResults } = report.parse(JSON.parse(output.slice(output.indexOf('{"'))));
    const ran = testResults.flatMap(({ assertionResults }) => assertionResults);
    const own = ran.filter(({ fullName }) => fullName.includes("driver node:sqlite"));
    expect(own.length).toBeGreaterThan(10);
    expect(own.filter(({ status }) => status !== "passed")).toEqual([]);
    expect(success).toBe(true);
  });

  it.each(faults)("a native module that is $cause is made up for by the runtime's own", async ({ damage }) => {
    expect((await openSpoilt(damage, newer)).answer).toEqual({ driver: "node:sqlite" });
  });

  it("one file is written at once by this Node with the native module and by Node 22 with its own", async () => {
    const path = join(temporaryFolder(), "notes.db");
    const nodes = [process.execPath, newer, process.execPath, newer];
    const children = nodes.map((node, i) => startFixture("writer.mjs", [path, `p${i}`, "500"], node));
    for (const child of children) expect(await child.ended, child.stderr()).toBe(0);
    const db = await openNotes({ path });
    expect(db.all("SELECT * FROM ran")).toHaveLength(1);
    for (const table of ["notes", "halves"])
      expect(db.get(`SELECT count(*) AS n FROM ${table}`)).toMatchObject({ n: 2_000 });
    expect(db.get("PRAGMA integrity_check")).toMatchObject({ integrity_check: "ok" });
  });
});
