import { ToolError } from "@toolhaft/core";
import { type ChildHandle, type Spawn, type StartOptions, startChild } from "./child.ts";
import { killNow, type StopOptions } from "./tree.ts";
import { createWatchdog, type WatchdogOptions } from "./watchdog.ts";

/** Owns children: none of them outlives it, nor this process, however either ends. */
export interface ProcessHost extends AsyncDisposable {
  /** The children that run. */
  readonly children: readonly ChildHandle[];
  /** Pid of the watchdog, while there is one. */
  readonly watchdogPid: number | undefined;
  /**
   * Starts a program; with the first one the watchdog starts, too.
   *
   * @throws ToolError `unavailable` when the program cannot be started or the host is closed.
   */
  start(options: StartOptions): Promise<ChildHandle>;
  /** Stops all children side by side; resolves when they and their descendants are gone. */
  close(options?: StopOptions): Promise<void>;
}

/**
 * Makes an owner of child processes. Opens nothing.
 *
 * @example
 * await using host = createProcessHost();
 * const child = await host.start({ command: "clangd", cwd: "/work", env: childEnvironment() });
 */
export function createProcessHost(options: { watchdog?: WatchdogOptions } = {}): ProcessHost {
  const children = new Map<number, ChildHandle | undefined>();
  const watchdog = createWatchdog(options.watchdog);
  let closed = false;

  // on a normal end and on an uncaught exception; a killed process is the watchdog's
  const onExit = () => {
    for (const pid of children.keys()) killNow(pid);
  };
  const hooks = {
    started(pid: number) {
      if (children.size === 0) process.on("exit", onExit);
      children.set(pid, undefined);
      watchdog.add(pid);
    },
    ended(pid: number) {
      children.delete(pid);
      watchdog.remove(pid);
      if (children.size === 0) process.off("exit", onExit);
    },
  };
  const running = () => [...children.values()].filter((child) => child !== undefined);

  return {
    get children() {
      return running();
    },
    get watchdogPid() {
      return watchdog.pid;
    },
    async start(startOptions) {
      if (closed) throw new ToolError("unavailable", "the owner of this process has been closed");
      const { default: crossSpawn } = await import("cross-spawn");
      const child = await startChild(crossSpawn as Spawn, startOptions, startOptions.outlivesHost ? idle : hooks);
      if (startOptions.outlivesHost !== true && child.exit === undefined) children.set(child.pid, child);
      if (closed) await child.stop();
      return child;
    },
    async close(stopOptions) {
      closed = true;
      await Promise.all(running().map((child) => child.stop(stopOptions)));
      watchdog.close();
    },
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
}

const idle = { started() {}, ended() {} };
