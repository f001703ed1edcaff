import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { identify, isRunning, type ProcessIdentity } from "./identity.ts";

const runFile = promisify(execFile);

interface Row {
  pid: number;
  parent: number;
  group: number;
  zombie: boolean;
}

/** Sends a signal to every process of a group. `false`: the group is empty. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ESRCH" || code === "EINVAL") return false;
    // EPERM: somebody is there, though not ours to signal
    if (code === "EPERM") return true;
    throw error;
  }
}

/** Ends a child and its group at once, from places that cannot wait (`process.on("exit")`). */
export function killNow(pid: number): void {
  if (process.platform === "win32") signalOne(pid, "SIGKILL");
  else signalGroup(pid, "SIGKILL");
}

/** The processes that descend from `pid`, those that left its group included; nearest first. */
export async function descendants(pid: number): Promise<ProcessIdentity[]> {
  const rows = await processTable();
  const children = new Map<number, number[]>();
  for (const row of rows) {
    if (row.zombie) continue;
    const list = children.get(row.parent);
    if (list === undefined) children.set(row.parent, [row.pid]);
    else list.push(row.pid);
  }
  const found: number[] = [];
  const queue = [pid];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    for (const child of children.get(next) ?? []) {
      found.push(child);
      queue.push(child);
    }
  }
  const identities = await Promise.all(found.map(identify));
  return identities.filter((identity) => identity !== undefined);
}

/** Whether a process of this group is alive; dead ones that nobody has waited for do not count. */
export async function groupIsAlive(group: number): Promise<boolean> {
  if (process.platform === "win32") return (await identify(group)) !== undefined;
  if (!signalGroup(group, 0)) return false;
  return (await processTable()).some((row) => row.group === group && !row.zombie);
}

async function processTable(): Promise<Row[]> {
  if (process.platform === "linux") return linuxTable();
  if (process.platform === "win32") return windowsTable();
  const { stdout } = await runFile("ps", ["-axo", "pid=,ppid=,pgid=,stat="]);
  return stdout.split("\n").flatMap((line) => {
    const [pid, parent, group, state] = line.trim().split(/\s+/);
    return state === undefined
      ? []
      : [{ pid: Number(pid), parent: Number(parent), group: Number(group), zombie: state.startsWith("Z") }];
  });
}

async function linuxTable(): Promise<Row[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const rows = await Promise.all(
    pids.map(async (pid): Promise<Row | undefined> => {
      try {
        const stat = await readFile(`/proc/${pid}/stat`, "utf8");
        // the name in brackets may hold anything, brackets included
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        const state = fields[0] ?? "";
        return {
          pid: Number(pid),
          parent: Number(fields[1]),
          group: Number(fields[2]),
          zombie: state === "Z" || state === "X",
        };
      } catch {
        return undefined; // ended while the table was read
      }
    }),
  );
  return rows.filter((row) => row !== undefined);
}

async function windowsTable(): Promise<Row[]> {
  const query = 'Get-CimInstance Win32_Process | ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId)" }';
  const { stdout } = await runFile("powershell", ["-NoProfile", "-NonInteractive", "-Command", query], {
    windowsHide: true,
  });
  return stdout.split(/\r?\n/).flatMap((line) => {
    const [pid, parent] = line.trim().split(" ").map(Number);
    return pid === undefined || parent === undefined ? [] : [{ pid, parent, group: pid, zombie: false }];
  });
}

export interface StopOptions {
  /** How long to wait after the first signal before SIGKILL, in milliseconds. @default 2000 */
  graceMs?: number;
  /** The first signal. @default "SIGTERM" */
  signal?: NodeJS.Signals;
}

/**
 * Ends a process, its group and all its descendants: SIGTERM, then SIGKILL to what is left after the grace time.
 *
 * Resolves when none of them runs any more. A process that has meanwhile got the same pid is left alone.
 */
export async function stopTree(root: ProcessIdentity, options: StopOptions = {}): Promise<void> {
  if (process.platform === "win32") return stopWindowsTree(root);
  const members = new Map<number, ProcessIdentity>([[root.pid, root]]);
  const collect = async () => {
    for (const member of [...members.values()])
      for (const child of await descendants(member.pid)) members.set(child.pid, child);
  };
  const groupIsOurs = async () => {
    // while its leader is dead and the group lives on, nobody else can get that number
    const leader = await identify(root.pid);
    return leader === undefined || leader.start === root.start;
  };
  const signalAll = async (signal: NodeJS.Signals) => {
    if (await groupIsOurs()) signalGroup(root.pid, signal);
    for (const member of members.values()) if (await isRunning(member)) signalOne(member.pid, signal);
  };
  const anyAlive = async () => {
    if ((await groupIsOurs()) && (await groupIsAlive(root.pid))) return true;
    const states = await Promise.all([...members.values()].map(isRunning));
    return states.includes(true);
  };
  await collect();
  await signalAll(options.signal ?? "SIGTERM");
  const deadline = performance.now() + (options.graceMs ?? 2000);
  while (performance.now() < deadline) {
    if (!(await anyAlive())) return;
    await pause(20);
  }
  // what a dying process has started meanwhile goes, too
  for (let round = 0; round < 250; round++) {
    await collect();
    await signalAll("SIGKILL");
    if (!(await anyAlive())) return;
    await pause(20);
  }
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

async function stopWindowsTree(root: ProcessIdentity): Promise<void> {
  if (!(await isRunning(root))) return;
  try {
    await runFile("taskkill", ["/pid", String(root.pid), "/T", "/F"], { windowsHide: true });
  } catch (error) {
    // 128: no such process, it ended by itself
    if ((error as { code?: unknown }).code !== 128) throw error;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
