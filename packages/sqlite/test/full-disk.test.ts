import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openNotes, temporaryFolder } from "./temporary.ts";

/** A file system of 1 MiB where this user may mount one. */
function smallDisk(): string | undefined {
  const folder = join(temporaryFolder(), "small");
  mkdirSync(folder);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync("umount", ["-l", folder]));
  return folder;
}

async function fill(path: string): Promise<void> {
  const db = await openNotes({ path });
  let acknowledged = 0;
  const insert = () =>
    db.write(() => db.run("INSERT INTO notes(text) VALUES(?)", [`${acknowledged} ${"x".repeat(20_000)}`]));
  if (!path.includes("small")) db.run("PRAGMA max_page_count = 60");
  for (;;) {
    try {
      await insert();
      acknowledged++;
    } catch (error) {
      expect(error).toMatchObject({
        code: "unavailable",
        message: expect.stringMatching(/full|failed/),
        hint: expect.stringContaining("free"),
      });
      break;
    }
  }
  expect(acknowledged).toBeGreaterThan(0);
  expect(db.get("SELECT count(*) AS n FROM notes")).toMatchObject({ n: acknowledged });
  expect(db.get("PRAGMA integrity_check")).toMatchObject({ integrity_check: "ok" });
}

describe("a full disk", () => {
  it("is a named error; what was acknowledged stays, nothing is half written", async () => {
    await fill(join(temporaryFolder(), "notes.db"));
  });

  it("the same on a real file system of 1 MiB, and writing goes on once there is room", async (context) => {
    const folder = smallDisk();
    if (!folder) return context.skip("this user may not mount a small file system");
    const ballast = join(folder, "ballast");
    writeFileSync(ballast, Buffer.alloc(256 * 1024));
    const path = join(folder, "notes.db");
    await fill(path);
    rmSync(ballast);
    const db = await openNotes({ path });
    await db.write(() => db.run("INSERT INTO notes(text) VALUES('room again')"));
    expect(db.get("SELECT text FROM notes WHERE text = 'room again'")).toMatchObject({ text: "room again" });
  });

  it("a file system without any room: named error, no half file", async (context) => {
    const folder = smallDisk();
    if (!folder) return context.skip("this user may not mount a small file system");
    try {
      writeFileSync(join(folder, "ballast"), Buffer.alloc(2 * 1024 * 1024));
    } catch (error) {
      expect(String(error)).toContain("ENOSPC");
    }
    await expect(openNotes({ path: join(folder, "notes.db") })).rejects.toMatchObject({ code: "unavailable" });
    rmSync(join(folder, "ballast"));
    const db = await openNotes({ path: join(folder, "notes.db") });
    expect(db.all("SELECT * FROM notes")).toEqual([]);
  });
});
