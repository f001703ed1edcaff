import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runs } from "@toolhaft/testing";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { claudeCodeStore } from "../src/index.ts";
import { useDesk } from "./desk.ts";
import { claudeLines, usage, writeClaude } from "./hosts.ts";

const desk = useDesk();
const child = fileURLToPath(new URL("./fixtures/index-child.mjs", import.meta.url));
const files = 4;
/** More than one batch of the index in each file. */
const messages = 4_200;

async function writeMany(): Promise<void> {
  for (let file = 0; file < files; file += 1) {
    const id = `0000000${file}-0000-4000-8000-000000000000`;
    const make = claudeLines(desk.directory, id);
    const records = Array.from({ length: messages }, (_, n) =>
      make.answer(
        { uuid: `f${file}-${n}`, parent: n === 0 ? null : `f${file}-${n - 1}` },
        { id: `m${file}-${n}`, content: [{ type: "text", text: `zebra ${n}` }], usage: usage(1, 2) },
      ),
    );
    await writeClaude(desk.claude, records, id);
  }
}

/** Runs until the index is up to date; killed after so many steps, if that is said. */
function index(killAfter?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const running = spawn(process.execPath, [child, desk.claude, desk.directory], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let steps = 0;
    running.stdout.on("data", (chunk) => {
      steps += String(chunk).split("\n").length - 1;
      if (killAfter !== undefined && steps >= killAfter) running.kill("SIGKILL");
    });
    running.on("error", reject);
    running.on("close", (code, ended) =>
      code === 0 || ended === "SIGKILL" ? resolve() : reject(new Error(`the indexer ended with ${code ?? ended}`)),
    );
  });
}

async function expectWhole(): Promise<void> {
  desk.open({ stores: [claudeCodeStore({ roots: [desk.claude] })] });
  const list = await desk.data("session_list", {});
  expect(list.index).toEqual({ upToDate: true, pendingFiles: 0, pendingBytes: 0 });
  expect(list.sessions.map(({ messages: count }: { messages: number }) => count)).toEqual(
    Array.from({ length: files }, () => messages),
  );
  const info = await desk.data("session_info", { session_id: "00000003-0000-4000-8000-000000000000" });
  expect(info.usage).toMatchObject({ inputTokens: messages, outputTokens: 2 * messages });
}

describe("indexing", () => {
  it("by several processes at once counts every line once", async () => {
    await writeMany();
    await Promise.all([index(), index(), index()]);
    await expectWhole();
  });

  it("by calls at once within a process counts every line once", async () => {
    await writeMany();
    desk.open({ stores: [claudeCodeStore({ roots: [desk.claude] })] });
    await Promise.all(Array.from({ length: 4 }, () => desk.data("session_search", { query: "zebra" })));
    await expectWhole();
  });

  it("goes on where a killed process stopped", async () => {
    await writeMany();
    for (let round = 0; round < runs(100); round += 1) await index(1 + (round % 7));
    await index();
    await expectWhole();
  });

  it("tells in a list what is not read yet", async () => {
    await writeMany();
    desk.open({ stores: [claudeCodeStore({ roots: [desk.claude] })], indexMs: 0 });
    const first = await desk.call("session_list", {});
    expect(first).toMatchObject({ ok: true, data: { index: { upToDate: false } } });
    expect(first.text).toMatch(/\d files? \([\d.]+ MB\) not indexed yet; call again\./);
  });

  it("a list reads only the sessions of its page as a whole, and orders by what the files tell", async () => {
    const count = 300;
    for (let n = 0; n < count; n += 1) {
      const id = `${n.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
      const make = claudeLines(desk.directory, id);
      const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, n * 10 + minute)).toISOString();
      await writeClaude(
        desk.claude,
        [
          { ...make.prompt({ uuid: "u" }, `prompt ${n}`), timestamp: at(0) },
          { ...make.prompt({ uuid: "v", parent: "u" }, "more"), timestamp: at(5) },
        ],
        id,
      );
    }
    desk.open({ stores: [claudeCodeStore({ roots: [desk.claude] })] });
    const first = await desk.data("session_list", { limit: 20 });
    expect(first).toMatchObject({ total: count, index: { upToDate: true } });
    const titles = (from: number) => Array.from({ length: 20 }, (_, n) => `prompt ${from - n}`);
    expect(first.sessions.map(({ title }: { title: string }) => title)).toEqual(titles(count - 1));
    expect(new Set(first.sessions.map(({ messages: all }: { messages: number }) => all))).toEqual(new Set([2]));
    const db = new Database(join(desk.directory, ".toolhaft", "session-index.db"), { readonly: true });
    const scopes = db.prepare("SELECT scope, count(*) AS n FROM files GROUP BY scope ORDER BY scope").all();
    db.close();
    expect(scopes).toEqual([
      { scope: "full", n: 20 },
      { scope: "head", n: count - 20 },
    ]);
    const second = await desk.data("session_list", { limit: 20, cursor: first.nextCursor });
    expect(second.sessions.map(({ title }: { title: string }) => title)).toEqual(titles(count - 21));
    const found = await desk.data("session_search", { query: "prompt 7" });
    expect(found.searched).toEqual({ sessions: count, messages: 2 * count });
  });

  it.skipIf(process.getuid?.() === 0)("names a file that cannot be read beside the others", async () => {
    const { chmod } = await import("node:fs/promises");
    const make = claudeLines(desk.directory);
    await writeClaude(desk.claude, [make.prompt({ uuid: "u" }, "seen")]);
    await writeClaude(desk.claude, [make.prompt({ uuid: "u" }, "unseen")], "00000009-0000-4000-8000-000000000000");
    const closed = join(desk.claude, "projects", "-w", "00000009-0000-4000-8000-000000000000.jsonl");
    await chmod(closed, 0);
    const list = await desk.call("session_list", { source: "claude-code" });
    expect(list).toMatchObject({
      ok: true,
      data: { total: 1, skipped: [{ source: "claude-code", code: "unavailable" }] },
    });
    expect(list.text).toContain(closed);
  });
});
