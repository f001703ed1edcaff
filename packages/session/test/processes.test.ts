import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runs, tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { sqliteSessionStore } from "../src/index.ts";

const child = fileURLToPath(new URL("./fixtures/append-child.mjs", import.meta.url));
const signal = new AbortController().signal;

/** Runs a writer; after `killAfter` acknowledged messages it is killed. Gives what it acknowledged. */
function write(path: string, id: string, writer: string, count: number, killAfter?: number): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const running = spawn(process.execPath, [child, path, id, writer, String(count)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    running.stdout.on("data", (chunk) => {
      said += String(chunk);
      if (killAfter !== undefined && said.split("\n").length > killAfter) running.kill("SIGKILL");
    });
    running.on("error", reject);
    running.on("close", (code) => {
      if (killAfter === undefined && code !== 0) reject(new Error(`the writer ended with ${code}`));
      else resolve(said.split("\n").filter((line) => /-\d+$/.test(line)));
    });
  });
}

async function ids(path: string, id: string): Promise<string[]> {
  const store = sqliteSessionStore({ path });
  const found: string[] = [];
  for await (const message of store.reader.messages(id, { branch: "main" }, signal)) found.push(message.id);
  await store[Symbol.asyncDispose]();
  return found;
}

describe("several processes", () => {
  it("append to one session: every message is there, in the order of its writer", async () => {
    await using workspace = await tempWorkspace();
    const path = join(workspace.directory, "sessions.db");
    const writers = Array.from({ length: 8 }, (_, n) => `w${n}`);
    await Promise.all(writers.map((writer) => write(path, "shared", writer, 25)));
    const all = await ids(path, "shared");
    expect(all).toHaveLength(200);
    for (const writer of writers) {
      const own = all.filter((id) => id.startsWith(`${writer}-`));
      expect(own).toEqual(Array.from({ length: 25 }, (_, n) => `${writer}-${n}`));
    }
  });

  it("killed at any point, they lose no acknowledged message", async () => {
    await using workspace = await tempWorkspace();
    const path = join(workspace.directory, "sessions.db");
    for (let round = 0; round < runs(60); round += 1) {
      const acknowledged = await write(path, `s${round}`, "w", 40, 1 + (round % 30));
      const kept = await ids(path, `s${round}`);
      expect(kept).toEqual(expect.arrayContaining(acknowledged));
      expect(kept.length).toBeLessThanOrEqual(acknowledged.length + 1);
    }
  });
});
