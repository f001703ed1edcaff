import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/** Ends process groups when this process is gone, however it went. */
export interface Watchdog {
  /** The watchdog's own pid, while it runs. */
  readonly pid: number | undefined;
  add(group: number): void;
  remove(group: number): void;
  /** Sends the watchdog home; the groups are no longer its business. */
  close(): void;
}

export interface WatchdogOptions {
  /** `shell` is a small `/bin/sh` loop, `node` a script for systems without one. @default by platform */
  kind?: "shell" | "node";
}

/**
 * The loop reads orders from its stdin, which only we hold: its end means that we are gone. It then gives the groups two
 * seconds to leave by themselves, SIGTERM, two more seconds, SIGKILL. dash wants `-s TERM --` before a negative number.
 */
const shellLoop = `
groups=""
while read -r order group; do
  case "$order" in
    add) groups="$groups $group" ;;
    del) left=""; for g in $groups; do [ "$g" = "$group" ] || left="$left $g"; done; groups="$left" ;;
    end) exit 0 ;;
  esac
done
alive() {
  for g in $groups; do kill -s 0 -- "-$g" 2>/dev/null && return 0; done
  return 1
}
alive || exit 0; sleep 1
alive || exit 0; sleep 1
for g in $groups; do kill -s TERM -- "-$g" 2>/dev/null; done
alive || exit 0; sleep 1
alive || exit 0; sleep 1
for g in $groups; do kill -s KILL -- "-$g" 2>/dev/null; done
exit 0
`;

const nodeLoop = `
const { spawnSync } = require("node:child_process");
const groups = new Set(); let rest = "";
const windows = process.platform === "win32";
const send = (group, signal) => {
  if (windows) { if (signal !== 0) spawnSync("taskkill", ["/pid", String(group), "/T", "/F"], { windowsHide: true }); return true; }
  try { process.kill(-group, signal); return true; } catch { return false; }
};
process.stdin.on("data", (chunk) => {
  rest += chunk;
  const lines = rest.split("\\n"); rest = lines.pop();
  for (const line of lines) {
    const [order, group] = line.split(" ");
    if (order === "add") groups.add(Number(group));
    if (order === "del") groups.delete(Number(group));
    if (order === "end") process.exit(0);
  }
});
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const alive = () => { for (const g of [...groups]) if (!windows && !send(g, 0)) groups.delete(g); return groups.size > 0; };
process.stdin.on("end", async () => {
  for (let i = 0; i < 20 && alive(); i++) await wait(100);
  for (const g of groups) send(g, "SIGTERM");
  for (let i = 0; i < 20 && alive(); i++) await wait(100);
  for (const g of groups) send(g, "SIGKILL");
  process.exit(0);
});
`;

/** Starts nothing until the first group is added; a watchdog that dies is replaced while groups are left. */
export function createWatchdog(options: WatchdogOptions = {}): Watchdog {
  const kind = options.kind ?? (process.platform === "win32" ? "node" : "shell");
  const groups = new Set<number>();
  let child: ChildProcess | undefined;
  let closed = false;

  const order = (line: string) => {
    child?.stdin?.write(`${line}\n`);
  };
  const start = () => {
    const [command, args] = kind === "shell" ? ["/bin/sh", ["-c", shellLoop]] : [process.execPath, ["-e", nodeLoop]];
    const started = spawn(command, args, {
      detached: true, // no signal of our terminal reaches it
      stdio: ["pipe", "ignore", "ignore"],
      cwd: "/",
      windowsHide: true,
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin", SystemRoot: process.env.SystemRoot },
    });
    child = started;
    started.unref();
    (started.stdin as Socket).unref();
    started.stdin?.on("error", () => {}); // the exit handler below deals with a dead one
    const gone = () => {
      if (child !== started) return;
      child = undefined;
      if (!closed && groups.size > 0) start();
    };
    started.once("exit", gone);
    // cannot be started at all: children still end with `process.on("exit")`, only a killed host leaves them
    started.once("error", () => {
      if (child === started) child = undefined;
    });
    for (const group of groups) order(`add ${group}`);
  };

  return {
    get pid() {
      return child?.pid;
    },
    add(group) {
      groups.add(group);
      if (child === undefined) start();
      else order(`add ${group}`);
    },
    remove(group) {
      if (groups.delete(group)) order(`del ${group}`);
    },
    close() {
      closed = true;
      groups.clear();
      child?.stdin?.end("end\n");
      child = undefined;
    },
  };
}
