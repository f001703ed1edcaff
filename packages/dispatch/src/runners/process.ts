import { hostname } from "node:os";
import { isToolError } from "@toolhaft/core";
import { type ChildHandle, createProcessHost, type ProcessHost, stopTree } from "@toolhaft/process";
import type { RunHandle, RunnerCaps, RunOutcome, RunRequest, RunSink, SubagentRunner } from "../runner.ts";
import { childEnvironmentOf, type PassedEnvironment } from "./environment.ts";
import { cutLines } from "./lines.ts";
import { plainText } from "./plain-text.ts";
import type { AgentProtocol, AgentReport } from "./protocol.ts";

export interface ProcessRunnerOptions {
  /** A program, never a line for a shell. */
  command: string;
  args?: readonly string[] | ((request: RunRequest) => readonly string[]);
  /** How it gets the prompt. `arg` appends `--` and the prompt, at most 100 KiB. @default "stdin" */
  prompt?: "stdin" | "arg";
  /** How its stdout is read. @default all of it is the answer */
  parse?: AgentProtocol;
  /** Names to pass on from this process, or values to set, beside the few every program gets. */
  env?: PassedEnvironment | ((request: RunRequest) => PassedEnvironment);
  /** Where it works. @default the directory of the call */
  directory?: string;
  /** @default the command */
  name?: string;
  model?: string;
  /** @default it cannot be resumed and reports nothing */
  caps?: Partial<Pick<RunnerCaps, "resume" | "usage">>;
  /** What to do when the program is missing. */
  install?: string;
  /** More words for exit codes that the program gives a meaning. */
  exitCodes?: Readonly<Record<number, string>>;
  /** Permissions that a launch asks for. */
  permissions?: readonly string[];
  /** Milliseconds between SIGTERM and SIGKILL. @default 5_000 */
  graceMs?: number;
  /** Longest line that is read, in bytes. @default 8 MiB */
  maxLineBytes?: number;
}

/** One argument of a program is limited by the system; 100 KiB fits everywhere. */
const maxArgumentBytes = 100 * 1024;
const stderrChars = 8 * 1024;
const defaultMaxLineBytes = 8 * 1024 * 1024;

/**
 * A subagent that is a command-line program. It leads its own process group, gets a scrubbed environment and no shell;
 * it has succeeded when it exits with 0 **and** has given an answer. On abort the group gets SIGTERM, then SIGKILL, and
 * the run settles when all of it is gone.
 */
export function processRunner(options: ProcessRunnerOptions): SubagentRunner {
  const hosts = sharedHost();
  return {
    name: options.name ?? options.command,
    ...(options.model !== undefined && { model: options.model }),
    ...(options.permissions !== undefined && { permissions: options.permissions }),
    caps: { resume: false, usage: "none", ...options.caps, reattach: false, asks: false },
    async run(request, sink, signal) {
      const refusal = refuse(options, request, signal);
      if (refusal !== undefined) return refusal;
      const host = hosts.take();
      try {
        return await runProgram(host, options, request, sink, signal);
      } finally {
        await hosts.give();
      }
    },
    reap: reapProcess,
  };
}

/** Stops what is left of a process of this machine; one that has got the same pid later is left alone. */
export async function reapProcess(handle: RunHandle): Promise<void> {
  const { pid, start, host } = handle;
  if (pid === undefined || start === undefined || start === "" || host !== hostname()) return;
  await stopTree({ pid, start }, { graceMs: 2_000 });
}

function refuse(options: ProcessRunnerOptions, request: RunRequest, signal: AbortSignal): RunOutcome | undefined {
  if (signal.aborted) return failed("it was stopped before it started");
  const bytes = Buffer.byteLength(request.prompt);
  if (options.prompt === "arg" && bytes > maxArgumentBytes)
    return failed(`the prompt has ${bytes} bytes, and an argument takes ${maxArgumentBytes}: give it by stdin`);
  return undefined;
}

async function runProgram(
  host: ProcessHost,
  options: ProcessRunnerOptions,
  request: RunRequest,
  sink: RunSink,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const args = typeof options.args === "function" ? options.args(request) : (options.args ?? []);
  const env = typeof options.env === "function" ? options.env(request) : options.env;
  let child: ChildHandle;
  try {
    child = await host.start({
      command: options.command,
      args: options.prompt === "arg" ? [...args, "--", request.prompt] : args,
      cwd: options.directory ?? request.directory,
      env: childEnvironmentOf(env, request.env),
    });
  } catch (error) {
    if (!isToolError(error)) throw error;
    const install = options.install === undefined ? "" : `; install it: ${options.install}`;
    return { ...failed(error.message + install), reason: "runner_unavailable" };
  }
  const { pid, start } = child.identity;
  const handle: RunHandle = { host: hostname(), pid, start, group: pid };
  sink.handle(handle);
  const stop = () => child.stop({ graceMs: options.graceMs ?? 5_000 });
  const onAbort = () => void stop();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const heard = listen(child, options, request, sink, handle);
    child.stdin?.end(options.prompt === "arg" ? "" : request.prompt);
    const exit = await Promise.race([child.exited, heard.silent]);
    if (exit === "silent" || signal.aborted) await stop();
    return heard.outcome(await child.exited);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

interface Heard {
  /** Settles when the program said that it is lost and then nothing more. */
  silent: Promise<"silent">;
  outcome(exit: { code: number | null; signal: NodeJS.Signals | null }): RunOutcome;
}

/** Reads stdout by the program's protocol. */
function listen(
  child: ChildHandle,
  options: ProcessRunnerOptions,
  request: RunRequest,
  sink: RunSink,
  handle: RunHandle,
): Heard {
  const said: string[] = [];
  let answer: string | undefined;
  let failure: string | undefined;
  let known = false;
  let first: string | undefined;
  let quiet: { ms: number; message: string } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isSilent = (_: "silent"): void => undefined;
  const silent = new Promise<"silent">((resolve) => {
    isSilent = resolve;
  });
  const watch = () => {
    clearTimeout(timer);
    if (quiet === undefined) return;
    const { ms, message } = quiet;
    timer = setTimeout(() => {
      failure ??= message;
      isSilent("silent");
    }, ms);
  };
  const report: AgentReport = {
    session: (id) => void sink.session(id, handle),
    text(text) {
      said.push(text);
      sink.activity({ kind: "text", text });
    },
    tool: (text) => sink.activity({ kind: "tool", text }),
    status: (text) => sink.activity({ kind: "status", text }),
    usage: (key, total) => void sink.usage({ key, total }),
    answer(text) {
      answer = text;
    },
    failed(message) {
      failure ??= message;
    },
    endWhenSilent(ms, message) {
      quiet = ms === null ? undefined : { ms, message };
    },
  };
  const parse = options.parse ?? plainText;
  // Without a protocol there is no session to wait for: the process is the session.
  if (parse === plainText) report.session(`process-${handle.pid}-${handle.start}`);
  const stream = parse(request, report);
  const lines = cutLines(
    options.maxLineBytes ?? defaultMaxLineBytes,
    (line) => {
      if (line.trim() !== "") first ??= line;
      if (stream.line(line)) known = true;
      watch();
    },
    (bytes) => report.status(`a line of ${bytes} bytes was left out`),
  );
  child.stdout?.on("data", (chunk: Uint8Array) => lines.push(chunk));
  return {
    silent,
    outcome(exit) {
      clearTimeout(timer);
      lines.end();
      stream.end?.();
      const output = said.length > 0 ? said.join("") : answer;
      const bad = verdict(exit, options, child) ?? undefined;
      const why = failure ?? bad;
      if (why === undefined && known && answer !== undefined) return { kind: "done", output: answer };
      const message =
        why ??
        (known || first === undefined
          ? "it ended without an answer"
          : `unrecognised output, which begins: ${[...first].slice(0, 200).join("")}`);
      return { ...failed(message), ...(output !== undefined && output.trim() !== "" && { output }) };
    },
  };
}

/** What an exit says when it is no success. */
function verdict(
  exit: { code: number | null; signal: NodeJS.Signals | null },
  options: ProcessRunnerOptions,
  child: ChildHandle,
): string | undefined {
  if (exit.code === 0) return undefined;
  const meaning = exit.code === null ? undefined : options.exitCodes?.[exit.code];
  const how = exit.code === null ? `was ended by ${exit.signal ?? "a signal"}` : `exited with ${exit.code}`;
  const stderr = [...child.stderrTail.text()].slice(-stderrChars).join("").trim();
  return `${options.command} ${how}${meaning === undefined ? "" : ` (${meaning})`}${stderr === "" ? "" : `: ${stderr}`}`;
}

function failed(message: string): RunOutcome & { kind: "failed" } {
  return { kind: "failed", message, retryable: false };
}

/** One owner of processes for all runs at a time; it is closed with the last of them, so that nothing is left. */
function sharedHost(): { take(): ProcessHost; give(): Promise<void> } {
  let host: ProcessHost | undefined;
  let users = 0;
  return {
    take() {
      users += 1;
      host ??= createProcessHost();
      return host;
    },
    async give() {
      users -= 1;
      if (users > 0) return;
      const last = host;
      host = undefined;
      await last?.close();
    },
  };
}
