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

/**
 * Runs a program to its end and gives what it printed. A non-zero exit code is a result, not an error.
 *
 * @throws ToolError `timeout`, `cancelled`, `too_large` (the tree is gone by then), `unavailable` when it cannot start.
 */
export async function runProgram(options: RunOptions): Promise<RunResult> {
  if (options.signal?.aborted) throw new ToolError("cancelled", `${options.command} was not started`);
  await using host = createProcessHost();
  const child = await host.start({
    command: options.command,
    cwd: options.cwd,
    env: options.env,
    ...(options.args && { args: options.args }),
    stderr: "pipe",
  });
  const maxBytes = options.maxBytes ?? 1024 * 1024;
  const timeoutMs = options.timeoutMs ?? 60_000;
  let failure: ToolError | undefined;
  const end = (error: ToolError) => {
    failure ??= error;
    child.stop({ graceMs: 500 });
  };
  const timer = setTimeout(
    () => end(new ToolError("timeout", `${options.command} did not end within ${timeoutMs} ms`)),
    timeoutMs,
  );
  const onAbort = () => end(new ToolError("cancelled", `${options.command} was stopped`));
  options.signal?.addEventListener("abort", onAbort, { once: true });
  const tooMuch = () => end(new ToolError("too_large", `${options.command} printed more than ${maxBytes} bytes`));
  const stdout = collect(child.stdout, maxBytes, tooMuch);
  const stderr = collect(child.stderr, maxBytes, tooMuch);
  child.stdin?.end(options.input ?? "");
  try {
    const exit = await child.exited;
    if (failure !== undefined) {
      await child.stop();
      throw failure;
    }
    return { ...exit, stdout: stdout(), stderr: stderr() };
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
  }
}

function collect(stream: ChildHandle["stdout"], maxBytes: number, tooMuch: () => void): () => string {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  stream?.on("data", (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else tooMuch();
  });
  return () => Buffer.concat(chunks).toString("utf8");
}
