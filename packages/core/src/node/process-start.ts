import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { isErrno } from "./errno.ts";

const run = promisify(execFile);

/**
 * When a process started, as text that is equal for the same process and different for another one that was given its
 * pid later. Compare it, do not read it: Linux gives clock ticks since boot together with the boot's id, other systems
 * the start time as their own tools print it.
 *
 * @returns `undefined` when no such process runs.
 * @see proc_pid_stat(5), field 22
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (process.platform === "linux") return linuxStart(pid);
  return process.platform === "win32" ? windowsStart(pid) : unixStart(pid);
}

async function linuxStart(pid: number): Promise<string | undefined> {
  const stat = await readOrAbsent(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The program's name, in brackets, may itself hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state] = fields;
  if (state === "Z" || state === "X") return undefined;
  const boot = (await readOrAbsent("/proc/sys/kernel/random/boot_id")) ?? "";
  return `${boot.trim()}:${fields[19] ?? ""}`;
}

async function unixStart(pid: number): Promise<string | undefined> {
  const text = await output("ps", ["-o", "stat=,lstart=", "-p", String(pid)]);
  if (text === undefined || text === "" || text.startsWith("Z")) return undefined;
  return text.replace(/^\S+\s+/, "");
}

async function windowsStart(pid: number): Promise<string | undefined> {
  const script = `(Get-Process -Id ${pid} -ErrorAction Stop).StartTime.ToFileTimeUtc()`;
  const text = await output("powershell.exe", ["-NoProfile", "-NonInteractive", "-Command", script]);
  return text === "" ? undefined : text;
}

async function readOrAbsent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH")) return undefined;
    throw error;
  }
}

/** What a program prints, trimmed; `undefined` when it says by its exit code that there is no such process. */
async function output(command: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout } = await run(command, [...args], { env: { ...process.env, LC_ALL: "C" } });
    return stdout.trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && typeof error.code === "number") return undefined;
    throw error;
  }
}
