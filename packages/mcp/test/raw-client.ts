import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type ClientOptions, serverCommand } from "./clients.ts";

export interface Message {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

/** A client that writes what it likes and sees every line: for what no SDK would send. */
export interface RawClient {
  child: ChildProcess;
  /** Every line of standard output. */
  lines: string[];
  messages(): Message[];
  stderr(): string;
  send(message: Record<string, unknown> | string): void;
  /** The answer to a request, once it is there. */
  answer(id: unknown): Promise<Message>;
  /** Waits until the condition holds for what has come. */
  until(condition: () => boolean): Promise<void>;
  initialize(capabilities?: Record<string, unknown>): Promise<Message>;
  exit: Promise<{ code: number | null; signal: string | null }>;
  end(): Promise<{ code: number | null; signal: string | null }>;
}

export function rawClient(options: ClientOptions = {}): RawClient {
  const { command, args, cwd, env } = serverCommand(options);
  const child = spawn(command, args, { stdio: "pipe", env, ...(cwd !== undefined && { cwd }) });
  const lines: string[] = [];
  let errors = "";
  let rest = "";
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of waiting) check();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    wake();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
    wake();
  });
  child.stdin.on("error", () => undefined);
  const exit = once(child, "exit").then(([code, signal]) => {
    wake();
    return { code: code as number | null, signal: signal as string | null };
  });
  const client: RawClient = {
    child,
    lines,
    exit,
    messages: () => lines.map((line) => JSON.parse(line) as Message),
    stderr: () => errors,
    send: (message) =>
      void child.stdin.write(
        `${typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message })}\n`,
      ),
    until: (condition) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (condition()) {
            waiting.delete(check);
            resolve();
          } else if (child.exitCode !== null || child.signalCode !== null) {
            waiting.delete(check);
            reject(new Error(`the server ended with ${child.exitCode ?? child.signalCode}: ${errors}`));
          }
        };
        waiting.add(check);
        check();
      }),
    async answer(id) {
      const find = () => client.messages().find((message) => message.id === id && message.method === undefined);
      await client.until(() => find() !== undefined);
      return find() ?? {};
    },
    async initialize(capabilities = {}) {
      client.send({
        id: "init",
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "raw", version: "1" } },
      });
      const answer = await client.answer("init");
      client.send({ method: "notifications/initialized" });
      return answer;
    },
    end() {
      child.stdin.end();
      return exit;
    },
  };
  return client;
}
