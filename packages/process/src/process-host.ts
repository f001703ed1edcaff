import { ToolError } from "@toolhaft/core";
import { type ChildHandle, type Spawn, type StartOptions, startChild } from "./child.ts";
import type { ProcessIdentity } from "./identity.ts";
import { killNow, type StopOptions, stopTree } from "./tree.ts";
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
  /**
   * Takes over a process that a child has started in a group of its own (a daemon): it ends with the host, too.
   * Gives the function that stops it earlier.
   */
  adopt(identity: ProcessIdentity): (options?: StopOptions) => Promise<void>;
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
  const adopted = new Map<number, ProcessIdentity>();
  const watchdog = createWatchdog(options.watchdog);
  let closed = false;

  // on a normal end and on an uncaught exception; a killed process is the watchdog's
  const onExit = () => {
    for (const pid of [...children.keys(), ...adopted.keys()]) killNow(pid);
  };
  const hooks = {
    started(pid: number) {
      listen();
      children.set(pid, undefined);
      watchdog.add(pid);
    },
    ended(pid: number) {
      children.delete(pid);
      watchdog.remove(pid);
      unlisten();
    },
  };
  const listen = () => {
    if (children.size + adopted.size === 0) process.on("exit", onExit);
  };
  const unlisten = () => {
    if (children.size + adopted.size === 0) process.off("exit", onExit);
  };
  const release = async (identity: ProcessIdentity, stopOptions?: StopOptions) => {
    await stopTree(identity, stopOptions);
    if (!adopted.delete(identity.pid)) return;
    watchdog.remove(identity.pid);
    unlisten();
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
    adopt(identity) {
      listen();
      adopted.set(identity.pid, identity);
      watchdog.add(identity.pid);
      return (stopOptions) => release(identity, stopOptions);
    },
    async close(stopOptions) {
      closed = true;
      await Promise.all(running().map((child) => child.stop(stopOptions)));
      await Promise.all([...adopted.values()].map((identity) => release(identity, stopOptions)));
      watchdog.close();
    },
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
}

const idle = { started() {}, ended() {} };
