import type { ClaimedStdout } from "@toolhaft/mcp/stdout";

/** What a command reads and writes; the process's own, or a test's. */
export interface Io {
  /** Only ever the result. */
  out(text: string): void;
  /** Notes, progress, errors, usage. */
  err(text: string): void;
  readInput(): Promise<string>;
  /** Puts a question on the terminal; undefined where there is none. */
  ask: ((question: string) => Promise<string>) | undefined;
  /** Colours go to a terminal that wants them. */
  colours: boolean;
  /** Columns that help is wrapped to; the same in every pipe. */
  width: number;
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Fires when the user interrupts. */
  signal: AbortSignal;
  /** Standard output, where it was claimed for the protocol. */
  stdout?: ClaimedStdout | undefined;
}

/** The process's own streams. A reader that went away (`| head`) ends the program quietly. */
export function processIo(stdout?: ClaimedStdout): Io {
  const interrupted = new AbortController();
  if (stdout === undefined) process.once("SIGINT", () => interrupted.abort());
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  const terminal = process.stdin.isTTY === true && process.stderr.isTTY === true;
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    readInput: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
      return Buffer.concat(chunks).toString("utf8");
    },
    ask: terminal ? askTerminal : undefined,
    colours: process.stdout.isTTY === true && !process.env.NO_COLOR,
    width: process.stdout.isTTY === true ? process.stdout.columns : 100,
    cwd: process.cwd(),
    env: process.env,
    signal: interrupted.signal,
    stdout,
  };
}

async function askTerminal(question: string): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}
