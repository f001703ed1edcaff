import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineBench } from "@toolhaft/testing";

const require = createRequire(import.meta.url);
const command = fileURLToPath(new URL("../../toolhaft/dist/bin.js", import.meta.url));
const hello = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

/** From nothing to an answered `initialize`, as a client waits for it. */
export default defineBench(async (bench) => {
  const name = "toolhaft mcp: start to initialize answered";
  if (!existsSync(command)) return bench.skip(name, "packages/toolhaft is not built: run npm run build");
  const peer = join(dirname(require.resolve("@modelcontextprotocol/server-filesystem/package.json")), "dist/index.js");
  await bench.compare({
    name,
    by: "wall",
    ours: () => answered([command, "mcp"]),
    baseline: { name: "server-filesystem", run: () => answered([peer, tmpdir()]) },
    target: { max: 1.5 },
    batch: 1,
    rounds: 11,
  });
});

/** Starts a server, waits for its first line, and ends it. */
function answered(words: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "ignore"], cwd: dirname(command) });
    child.on("error", reject);
    child.stdout.once("data", () => {
      child.kill("SIGKILL");
      resolve();
    });
    child.stdin.write(`${JSON.stringify(hello)}\n`);
  });
}
