import type { ChildProcess } from "node:child_process";
import { closeSync, openSync, statSync } from "node:fs";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { ToolError } from "@toolhaft/core";
import { identify, type ProcessIdentity } from "./identity.ts";
import { createTail, type Tail } from "./tail.ts";
import { killNow, type StopOptions, stopTree } from "./tree.ts";

/** Where a child's output goes. Never to our own stdout: that may belong to a protocol. */
export type OutputTarget = "pipe" | "ignore" | { file: string };

export interface StartOptions {
  /** A program, never a line for a shell. */
  command: string;
  args?: readonly string[];
  cwd: string;
  /** The whole environment of the child: see {@link childEnvironment}. */
  env: Readonly<Record<string, string>>;
  /** @default "pipe" */
  stdin?: "pipe" | "ignore";
  /** @default "pipe" */
  stdout?: OutputTarget;
  /** `"tail"` keeps the last 64 KiB in {@link ChildHandle.stderrTail}. @default "tail" */
  stderr?: OutputTarget | "tail";
  /**
   * Called with each piece of piped output from the first on: Node throws away what nobody listens to when a short program
   * has ended, and that may be before `start` resolves.
   */
  onStdout?(chunk: Uint8Array): void;
  onStderr?(chunk: Uint8Array): void;
  /** The child may live on when its host ends: no watchdog, no end with the host. @default false */
  outlivesHost?: boolean;
}

export interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A running child, leader of its own process group. */
export interface ChildHandle {
  readonly pid: number;
  /** Pid with start time: store this, not the pid. */
  readonly identity: ProcessIdentity;
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** Empty unless `stderr` is `"tail"`. */
  readonly stderrTail: Tail;
  /** How it ended, once it has. */
  readonly exit: ChildExit | undefined;
  /** Settles when the process has ended and its pipes are closed or drained; never rejects. */
  readonly exited: Promise<ChildExit>;
  /** Ends process, group and descendants; resolves when all are gone. Twice is once. */
  stop(options?: StopOptions): Promise<void>;
  /** Whether the child keeps our event loop alive; it does at first. */
  keepAlive(on: boolean): void;
}

export type Spawn = (command: string, args: readonly string[], options: object) => ChildProcess;

const tailBytes = 64 * 1024;

/**
 * Starts a program in its own process group, without a shell.
 *
 * @throws ToolError `unavailable` when it cannot be started: not found, not executable, no such folder.
 */
export async function startChild(
  spawn: Spawn,
  options: StartOptions,
  hooks: { started(pid: number): void; ended(pid: number): void },
): Promise<ChildHandle> {
  const files: number[] = [];
  const target = (value: OutputTarget | "tail" | undefined) => {
    if (value === undefined || value === "tail") return "pipe";
    if (typeof value === "string") return value;
    const descriptor = openSync(value.file, "a", 0o600);
    files.push(descriptor);
    return descriptor;
  };
  let child: ChildProcess;
  try {
    child = spawn(options.command, options.args ?? [], {
      cwd: options.cwd,
      env: options.env,
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: [options.stdin ?? "pipe", target(options.stdout), target(options.stderr)],
    });
  } catch (error) {
    throw startError(options, error);
  } finally {
    for (const descriptor of files) closeSync(descriptor);
  }
  const pid = child.pid;
  const exited = new Promise<ChildExit>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
    // a grandchild that holds the pipes must not hide the end of the child
    child.once("exit", (code, signal) => setTimeout(resolve, 250, { code, signal }));
  });
  // the program that reads our input may be gone; whoever writes sees it by `exited`
  child.stdin?.on("error", () => {});
  if (pid === undefined) {
    throw startError(options, await new Promise((resolve) => child.once("error", resolve)));
  }
  if (options.onStdout !== undefined) child.stdout?.on("data", options.onStdout);
  if (options.onStderr !== undefined) child.stderr?.on("data", options.onStderr);
  hooks.started(pid);
  child.on("error", () => {}); // a failed `kill` only: the start has succeeded

  const tail = createTail(tailBytes);
  if (options.stderr === undefined || options.stderr === "tail") child.stderr?.on("data", (chunk) => tail.push(chunk));
  let exit: ChildExit | undefined;
  child.once("exit", (code, signal) => {
    exit = { code, signal };
    // what it leaves behind in its group goes with it
    if (options.outlivesHost !== true && process.platform !== "win32") killNow(pid);
    hooks.ended(pid);
  });
  const identity = (await identify(pid)) ?? { pid, start: "" };
  let stopping: Promise<void> | undefined;

  return {
    pid,
    identity,
    stdin: child.stdin ?? undefined,
    stdout: child.stdout ?? undefined,
    stderr: child.stderr ?? undefined,
    stderrTail: tail,
    get exit() {
      return exit;
    },
    exited,
    stop(stopOptions) {
      stopping ??= (async () => {
        if (exit === undefined) await stopTree(identity, stopOptions);
        await exited;
      })();
      return stopping;
    },
    keepAlive(on) {
      const streams = [child.stdin, child.stdout, child.stderr] as unknown as (Socket | null)[];
      for (const handle of [child, ...streams]) {
        if (on) handle?.ref?.();
        else handle?.unref?.();
      }
    },
  };
}

function startError(options: StartOptions, error: unknown): ToolError {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const reason = error instanceof Error ? error.message : String(error);
  if (code === "ENOENT" && !isFolder(options.cwd)) {
    return new ToolError("unavailable", `cannot start ${options.command}: there is no folder ${options.cwd}`, {
      hint: "name a folder that exists",
      cause: error,
    });
  }
  if (code === "ENOENT") {
    return new ToolError("unavailable", `the program ${options.command} is not installed or not on the PATH`, {
      hint: `install ${options.command}, or give its full path`,
      cause: error,
    });
  }
  if (code === "EACCES") {
    return new ToolError("unavailable", `${options.command} may not be executed`, {
      hint: `chmod +x ${options.command}`,
      cause: error,
    });
  }
  return new ToolError("unavailable", `cannot start ${options.command}: ${reason}`, { cause: error });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
