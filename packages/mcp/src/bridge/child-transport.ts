import type { JSONRPCMessage, ReadBuffer, Transport } from "@modelcontextprotocol/client";
import { ToolError } from "@toolhaft/core";
import { type ChildHandle, childEnvironment, type ProcessHost } from "@toolhaft/process";

/** A server that is started as a program. */
export interface CommandSource {
  command: string;
  args?: readonly string[];
  /** Set beside the few variables that every child inherits. */
  env?: Readonly<Record<string, string>>;
  /** @default the working directory */
  cwd?: string;
}

export interface ChildTransport extends Transport {
  /** The last of what the server wrote on standard error, at most 64 KiB. */
  stderr(): string;
}

/** How long a server may take to end after its standard input has, in milliseconds; the SDKs' own servers need it. */
const graceMs = 2_000;

/** Lines of JSON on a child's standard streams; the child has its own process group and dies with us. */
export function createChildTransport(
  host: ProcessHost,
  source: CommandSource,
  sdk: { ReadBuffer: typeof ReadBuffer; serializeMessage(message: JSONRPCMessage): string },
  maxBytes: number,
): ChildTransport {
  const buffer = new sdk.ReadBuffer({ maxBufferSize: maxBytes });
  let child: ChildHandle | undefined;
  let ended = false;
  const end = () => {
    if (ended) return;
    ended = true;
    transport.onclose?.();
  };

  const read = (chunk: Buffer) => {
    try {
      buffer.append(chunk);
    } catch (cause) {
      transport.onerror?.(
        new ToolError("too_large", `the server sent a message over ${maxBytes} bytes`, { retryable: false, cause }),
      );
      void transport.close();
      return;
    }
    for (;;) {
      try {
        const message = buffer.readMessage();
        if (message === null) return;
        transport.onmessage?.(message);
      } catch (error) {
        // JSON that is no message: reported and left out.
        transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
      }
    }
  };

  const transport: ChildTransport = {
    stderr: () => child?.stderrTail.text() ?? "",
    async start() {
      const { command, args, env = {}, cwd = process.cwd() } = source;
      child = await host.start({
        command,
        cwd,
        env: childEnvironment({ set: env }),
        ...(args !== undefined && { args }),
      });
      child.stdout?.on("data", read);
      void child.exited.then(end);
    },
    async send(message) {
      const stdin = child?.stdin;
      if (ended || stdin === undefined || !stdin.writable) throw new Error("the server has ended");
      if (!stdin.write(sdk.serializeMessage(message))) {
        await new Promise<void>((resolve) => {
          stdin.once("drain", resolve).once("close", resolve);
        });
      }
    },
    async close() {
      const running = child;
      if (running === undefined) return end();
      running.stdin?.end();
      await Promise.race([running.exited, new Promise((resolve) => setTimeout(resolve, graceMs).unref())]);
      await running.stop();
      end();
    },
  };
  return transport;
}
