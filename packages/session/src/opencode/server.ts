import { randomBytes } from "node:crypto";
import { basename, dirname } from "node:path";
import { ToolError } from "@toolhaft/core";
import { childEnvironment, createProcessHost } from "@toolhaft/process";

/** Longest wait for the program to listen, in ms. */
const startMs = 30_000;

export interface RunningServer {
  url: string;
  headers: Record<string, string>;
  stop(): Promise<void>;
}

export interface ServerStart {
  command: string;
  /** Its data folder, where it is not the one of the environment. */
  data: string | undefined;
  directory: string;
}

/**
 * Starts `opencode serve` on loopback, with a password of its own, until it says where it listens.
 *
 * @throws ToolError `unsupported` for a data folder that the program cannot be told of
 */
export async function startServer(
  { command, data, directory }: ServerStart,
  signal: AbortSignal,
): Promise<RunningServer> {
  if (data !== undefined && basename(data) !== "opencode") {
    throw new ToolError("unsupported", `opencode keeps its data in a folder named opencode, which ${data} is not`, {
      hint: "start `opencode serve` over that data yourself and name it as the store's server",
    });
  }
  const host = createProcessHost();
  const password = randomBytes(24).toString("hex");
  try {
    const child = await host.start({
      command,
      args: ["serve", "--hostname", "127.0.0.1", "--port", "0"],
      cwd: directory,
      env: childEnvironment({
        inherit: ["OPENCODE_*"],
        set: {
          OPENCODE_SERVER_PASSWORD: password,
          ...(data !== undefined && { XDG_DATA_HOME: dirname(data), OPENCODE_DB: undefined }),
        },
      }),
      stdout: "pipe",
      stderr: "pipe",
    });
    const url = await listening(child, signal);
    const credentials = Buffer.from(`opencode:${password}`).toString("base64");
    return { url, headers: { authorization: `Basic ${credentials}` }, stop: async () => host[Symbol.asyncDispose]() };
  } catch (error) {
    await host[Symbol.asyncDispose]();
    if (error instanceof ToolError || signal.aborted) throw error;
    throw new ToolError("unavailable", `${command} cannot be started`, {
      hint: "npm install -g opencode-ai",
      cause: error,
    });
  }
}

async function listening(
  child: Awaited<ReturnType<ReturnType<typeof createProcessHost>["start"]>>,
  signal: AbortSignal,
): Promise<string> {
  let said = "";
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new ToolError("timeout", "opencode serve did not listen in 30 s")), startMs);
    const end = (settle: () => void) => {
      clearTimeout(late);
      signal.removeEventListener("abort", stopped);
      settle();
    };
    const stopped = () => end(() => reject(signal.reason));
    signal.addEventListener("abort", stopped, { once: true });
    const look = (chunk: unknown) => {
      said = (said + String(chunk)).slice(-16_384);
      const url = /https?:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (url !== undefined) end(() => resolve(url));
    };
    child.stdout?.on("data", look);
    child.stderr?.on("data", look);
    child.exited.then((exit) =>
      end(() =>
        reject(new ToolError("unavailable", `opencode serve ended (${exit.code ?? exit.signal}): ${said.slice(-400)}`)),
      ),
    );
  });
}
