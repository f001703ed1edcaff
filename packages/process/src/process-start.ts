import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const runFile = promisify(execFile);

/**
 * When the process with this pid started, in the system's own words; `undefined` when there is none.
 *
 * Linux: ticks since boot, the 22nd field of `/proc/<pid>/stat`. A process that is dead but not yet waited for counts as gone.
 *
 * @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (process.platform === "linux") {
    try {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "ENOENT" || code === "ESRCH") return undefined;
      throw error;
    }
  }
  const [command, args]: [string, string[]] =
    process.platform === "win32"
      ? ["powershell", ["-NoProfile", "-NonInteractive", "-Command", `(Get-Process -Id ${pid}).StartTime.Ticks`]]
      : ["ps", ["-o", "lstart=", "-p", String(pid)]];
  try {
    const { stdout } = await runFile(command, args, { windowsHide: true });
    return stdout.trim() || undefined;
  } catch (error) {
    // both programs end with a code of their own when there is no such process
    if (typeof (error as { code?: unknown }).code === "number") return undefined;
    throw error;
  }
}
