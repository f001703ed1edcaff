import { rmSync, writeFileSync } from "node:fs";
import { openForeign } from "@toolhaft/sqlite";
import { tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFunctions, memoryStore, sqliteStore } from "../src/index.ts";
import { startFixture } from "./processes.ts";
import { bad, databaseOf, setting, thrown } from "./setting.ts";
import { describeStore } from "./store-contract.ts";

async function file(): Promise<string> {
  const workspace = await tempWorkspace();
  onTestFinished(() => workspace.remove());
  return workspace.path("state/functions.db");
}

describeStore("memory", async (clock) => memoryStore({ clock }));
describeStore("sqlite", async (clock) => sqliteStore({ path: await file(), clock }));

describe("the log in SQLite", () => {
  it.each([
    "UPDATE signals SET type = 'answer'",
    "DELETE FROM signals",
    "UPDATE resolutions SET kind = 'expired'",
    "DELETE FROM resolutions",
  ])("refuses %s, whoever asks", async (sql) => {
    const { on, sig, res, directory, family } = await setting({ f: "" });
    await on("f");
    await sig("need_approval");
    await res(1);
    await family.close();
    const child = startFixture("raw-sql.mjs", [databaseOf(directory), sql]);
    expect(await child.ended).toBe(1);
    expect(child.stderr()).toContain("append-only");
    const db = await openForeign(databaseOf(directory));
    expect(db.all("SELECT 1 FROM signals")).toHaveLength(1);
    expect(db.all("SELECT 1 FROM resolutions")).toHaveLength(1);
    db.close();
  });

  it("a damaged file is `unavailable` and left untouched; a new one begins when it is gone", async () => {
    const { on, directory, family, call } = await setting({ f: "" });
    await on("f");
    await family.close();
    const path = databaseOf(directory);
    for (const part of ["-wal", "-shm"]) rmSync(path + part, { force: true });
    writeFileSync(path, "no database at all, but long enough to be looked at");
    const again = createFunctions({ directory });
    onTestFinished(() => again.close());
    expect((await thrown(again.engine.step("s", { type: "turn" }))).code).toBe("unavailable");
    expect(bad((await again.tools[1]?.call({}, { directory })) ?? { ok: true, text: "", data: {} }).code).toBe(
      "unavailable",
    );
    const { readFileSync } = await import("node:fs");
    expect(readFileSync(path, "utf8")).toContain("no database at all");
    rmSync(path);
    await again.engine.step("s", { type: "activate", function: "f" });
    expect((await again.engine.state("s")).functions).toHaveLength(1);
    expect(bad(await call("signal", { type: "answer" })).code).toBe("internal");
  });

  it("a lock that another process holds is a `timeout`, and nothing is recorded", async () => {
    const { on, sig, directory, family, session } = await setting({ f: "" }, { lockTimeoutMs: 200 });
    await on("f");
    const holder = startFixture("raw-sql.mjs", [databaseOf(directory), "hold"]);
    await holder.hasLines(1);
    expect(bad(await sig("answer"))).toMatchObject({ code: "timeout", retryable: true });
    holder.process.stdin?.end();
    await holder.ended;
    expect(await family.signals.since(session)).toEqual([]);
    await sig("answer");
    expect(await family.signals.since(session)).toHaveLength(1);
  });
});
