import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../test/server.ts";

/** Jobs a second by BullMQ's workers, ten at once, each write on disk before it is answered; or why not. */
export async function bullRate(size: number): Promise<number | string> {
  const folder = mkdtempSync(join(tmpdir(), "toolhaft-bench-redis-"));
  const port = await freePort();
  const settings = ["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--dir", folder];
  const server = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", ...settings], {
    stdio: "ignore",
  });
  try {
    if (!(await answers(server, port))) return "no Redis server here: install redis-server";
    const { Queue, Worker } = await import("bullmq");
    const connection = { host: "127.0.0.1", port, maxRetriesPerRequest: null };
    const queue = new Queue("bench", { connection });
    await queue.addBulk(Array.from({ length: size }, (_, index) => ({ name: "task", data: { index } })));
    let done = 0;
    const start = performance.now();
    let finish: (() => void) | undefined;
    const all = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const worker = new Worker("bench", async () => "done", { connection, concurrency: 10 });
    worker.on("completed", () => {
      if (++done === size) finish?.();
    });
    await all;
    const rate = (1_000 * done) / (performance.now() - start);
    await worker.close();
    await queue.close();
    return rate;
  } finally {
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether the server takes connections; false where its program is missing. */
async function answers(server: ChildProcess, port: number): Promise<boolean> {
  let gone = false;
  server.once("error", () => {
    gone = true;
  });
  server.once("exit", () => {
    gone = true;
  });
  while (!gone) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      socket.once("close", () => socket.destroy());
    });
    if (open) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}
