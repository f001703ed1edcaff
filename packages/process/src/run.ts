import { ToolError } from "@toolhaft/core";
import type { ChildExit, ChildHandle, StartOptions } from "./child.ts";
import { createProcessHost } from "./process-host.ts";

export interface RunOptions extends Omit<StartOptions, "stdin" | "stdout" | "stderr" | "outlivesHost"> {
  /** Written to stdin, which is then closed. */
  input?: string | Uint8Array;
  /** Milliseconds until the whole tree is ended. @default 60_000 */
  timeoutMs?: number;
  /** Most bytes kept of each stream; more ends the program. @default 1 MiB */
  maxBytes?: number;
  signal?: AbortSignal;
}

export interface RunResult extends ChildExit {
  stdout: string;
  stderr: string;
}

/** How long the pipes of a program that has ended may hold us up: a grandchild may keep them open. */
const drainMs = 250;

/**
 * Runs a program to its end and gives what it printed. A non-zero exit code is a result, not an error.
 *
 * @throws ToolError `timeout`, `cancelled`, `too_large` (the tree is gone by then), `unavailable` when it cannot start.
 */
export async function runProgram(options: RunOptions): Promise<RunResult> {
  if (options.signal?.aborted) throw new ToolError("cancelled", `${options.command} was not started`);
  await using host = createProcessHost();
  const maxBytes = options.maxBytes ?? 1024 * 1024;
  let failure: ToolError | undefined;
  let stop: () => void = () => undefined;
  const end = (error: ToolError) => {
    failure ??= error;
    stop();
  };
  const tooMuch = () => end(new ToolError("too_large", `${options.command} printed more than ${maxBytes} bytes`));
  const stdout = collect(maxBytes, tooMuch);
  const stderr = collect(maxBytes, tooMuch);
  const child = await host.start({
    command: options.command,
    cwd: options.cwd,
    env: options.env,
    ...(options.args && { args: options.args }),
    stderr: "pipe",
    onStdout: stdout.push,
    onStderr: stderr.push,
  });
  stop = () => void child.stop({ graceMs: 500 });
  if (failure !== undefined) stop();
  const timeoutMs = options.timeoutMs ?? 60_000;
  const timer = setTimeout(
    () => end(new ToolError("timeout", `${options.command} did not end within ${timeoutMs} ms`)),
    timeoutMs,
  );
  const onAbort = () => end(new ToolError("cancelled", `${options.command} was stopped`));
  options.signal?.addEventListener("abort", onAbort, { once: true });
  // It may have fired while the program was starting.
  if (options.signal?.aborted) onAbort();
  child.stdin?.end(options.input ?? "");
  try {
    const exit = await child.exited;
    // What a short program printed may still lie in the pipe when its end is known.
    await Promise.race([
      Promise.all([drained(child.stdout), drained(child.stderr)]),
      new Promise((resolve) => setTimeout(resolve, drainMs).unref()),
    ]);
    if (failure !== undefined) {
      await child.stop();
      throw failure;
    }
    return { ...exit, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
  }
}

function drained(stream: ChildHandle["stdout"]): Promise<void> {
  if (stream === undefined || stream.readableEnded || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once("end", resolve).once("close", resolve).once("error", resolve);
  });
}

function collect(maxBytes: number, tooMuch: () => void): { push(chunk: Uint8Array): void; text(): string } {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    push(chunk) {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else tooMuch();
    },
    text: () => Buffer.concat(chunks).toString("utf8"),
  };
}
