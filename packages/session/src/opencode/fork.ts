import { ToolError } from "@toolhaft/core";
import type { Message } from "../model.ts";
import { nonEmpty, object } from "../shapes.ts";
import type { SessionForker, SessionReader } from "../store.ts";
import type { OpencodeStoreOptions } from "./options.ts";
import { startServer } from "./server.ts";

/** Forks through the host's server: it copies what lies before a message, so the one after the point is named. */
export function opencodeForker(options: OpencodeStoreOptions, reader: SessionReader): SessionForker {
  return {
    async fork(id, at, { ask, title }, signal) {
      const summary = await reader.get(id, signal);
      if (summary === undefined) throw new ToolError("not_found", `no session ${id}`);
      const messages: Message[] = [];
      for await (const message of reader.messages(id, { branch: "main" }, signal)) messages.push(message);
      const point =
        at === undefined
          ? messages.at(-1)
          : messages.find((message) => message.id === at || `#${message.index}` === at);
      if (point === undefined) {
        throw new ToolError("not_found", "this session has no such message", {
          hint: `it has ${messages.length} messages: #0 to #${Math.max(0, messages.length - 1)}`,
        });
      }
      const open = point.parts.some(({ tool }) => tool?.status === "no_result" || tool?.status === "running");
      if (open)
        throw new ToolError("conflict", `#${point.index} has tool calls without results`, {
          hint: `fork at #${Math.max(0, point.index - 1)}`,
          retryable: false,
        });
      const target = options.server?.url ?? options.command ?? "opencode";
      await ask({ permission: "session.fork", resources: [target], reason: `let opencode fork session ${id}` });
      const started =
        options.server === undefined
          ? await startServer(
              {
                command: options.command ?? "opencode",
                data: options.data,
                directory: summary.directory ?? process.cwd(),
              },
              signal,
            )
          : undefined;
      const server = options.server ?? started;
      if (server === undefined) throw new ToolError("unsupported", "no server or command of opencode is set up");
      try {
        const after = messages[messages.indexOf(point) + 1];
        const made = await callServer(
          server,
          `/session/${encodeURIComponent(id)}/fork`,
          after === undefined ? {} : { messageID: after.id },
          signal,
        );
        const fork = nonEmpty(object(made)?.id);
        if (fork === undefined) throw new ToolError("upstream", "opencode answered the fork without a session id");
        if (title !== undefined)
          await callServer(server, `/session/${encodeURIComponent(fork)}`, { title }, signal, "PATCH");
        const copy = await reader.get(fork, signal);
        if (copy === undefined)
          throw new ToolError("upstream", `opencode made ${fork}, but its store does not show it`);
        if (copy.messages !== point.index + 1) {
          throw new ToolError(
            "upstream",
            `opencode copied ${copy.messages} messages where ${point.index + 1} were asked for (${fork})`,
          );
        }
        return {
          fork: copy,
          at: { messageId: point.id, index: point.index },
          copied: copy.messages,
          resume: `opencode -s ${fork}`,
          notes: [],
        };
      } finally {
        await started?.stop();
      }
    },
  };
}

async function callServer(
  server: { url: string; headers?: Record<string, string> },
  path: string,
  body: unknown,
  signal: AbortSignal,
  method = "POST",
): Promise<unknown> {
  const url = new URL(path, server.url);
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers: { "content-type": "application/json", ...server.headers },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ToolError("unavailable", `opencode's server at ${url.origin} cannot be reached`, {
      hint: "start `opencode serve`",
      cause: error,
    });
  }
  if (!response.ok) throw new ToolError("upstream", `opencode's server answered ${response.status} to ${path}`);
  return response.json();
}
