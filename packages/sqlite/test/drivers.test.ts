import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadDriver } from "../src/driver.ts";
import type { DriverName } from "../src/index.ts";
import { describeDriver } from "./contract.ts";
import { openNotes, temporaryFolder } from "./temporary.ts";

const available = new Map<DriverName, boolean>();
for (const name of ["better-sqlite3", "node:sqlite"] as const) {
  available.set(
    name,
    await loadDriver(name).then(
      () => true,
      () => false,
    ),
  );
}

for (const [name, loads] of available) {
  if (loads) describeDriver(name);
  else
    describe.skip(`driver ${name}: this Node ${process.version} cannot load it`, () =>
      void it("is skipped", () => undefined));
}

it("loads at least one driver, and better-sqlite3 first where both can be loaded", async () => {
  const db = await openNotes();
  expect(db.driver).toBe(available.get("better-sqlite3") ? "better-sqlite3" : "node:sqlite");
});

it.skipIf(!available.get("better-sqlite3") || !available.get("node:sqlite"))(
  "a file written by one driver is read by the other",
  async () => {
    const path = join(temporaryFolder(), "notes.db");
    const first = await openNotes({ path, driver: "node:sqlite" });
    await first.write(() => first.run("INSERT INTO notes(text) VALUES('from one')"));
    const second = await openNotes({ path, driver: "better-sqlite3" });
    expect(second.get<{ text: string }>("SELECT text FROM notes")?.text).toBe("from one");
    await second.write(() => second.run("INSERT INTO notes(text) VALUES('from the other')"));
    expect(first.all("SELECT * FROM notes")).toHaveLength(2);
  },
);
