import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { type AnyTool, defineTool, ToolError, toolOutput } from "@toolhaft/core";
import { z } from "zod";

const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const writes = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };

/** What the fixture tools saw: the inputs that reached `execute`, by tool. */
export interface FixtureLog {
  ran: { tool: string; input: unknown }[];
}

export interface FixtureOptions {
  log?: FixtureLog;
  /** The file that `asks` and `changes_files` write when the input names none. @default "fixture.txt" in the directory */
  file?: string;
  /** A server on loopback that never answers; `slow` holds a connection to it. */
  slowPort?: number;
}

/** Six small tools that between them do what tools do; every host and server is tried with the same ones. */
export function fixtureTools(options: FixtureOptions = {}): readonly AnyTool[] {
  const saw = (tool: string, input: unknown) => void options.log?.ran.push({ tool, input });

  const echo = defineTool({
    name: "echo",
    title: "Echo a text",
    description: "Gives back the text it was given. Use it to see whether calls arrive.",
    inputSchema: z.object({ text: z.string().describe("What to give back") }),
    outputSchema: z.object({ text: z.string() }),
    annotations: reads,
    async execute(input) {
      saw("echo", input);
      return { text: input.text };
    },
    render: ({ text }) => text,
  });

  const defaults = defineTool({
    name: "defaults",
    title: "Claim with defaults",
    description: "Claims something for an owner; shows which values were applied. Nothing is kept.",
    inputSchema: z.object({
      owner: z.string().min(1).describe("Who claims"),
      priority: z.enum(["low", "high"]).optional().describe("How urgent"),
      ttl_secs: z.number().int().min(1).max(86_400).default(600).describe("Seconds until it ends"),
      paths: z.array(z.string().describe("One path")).optional().describe("What is claimed"),
    }),
    outputSchema: z.object({
      owner: z.string(),
      priority: z.enum(["low", "high"]).optional(),
      ttl_secs: z.number(),
      paths: z.array(z.string()).optional(),
    }),
    annotations: reads,
    async execute(input) {
      saw("defaults", input);
      return input;
    },
    render: (output) =>
      `${output.owner} for ${output.ttl_secs} s, ${output.priority ?? "no priority"}${output.paths ? `, ${output.paths.join(" ")}` : ""}`,
  });

  const fails = defineTool({
    name: "fails",
    title: "Fail on purpose",
    description: "Always fails as a tool fails that finds nothing. Use it to see what is left of an error.",
    inputSchema: z.object({}),
    outputSchema: z.object({}),
    annotations: reads,
    async execute(input) {
      saw("fails", input);
      throw new ToolError("not_found", "no pending task", { hint: "post one first" });
    },
    render: () => "",
  });

  const slow = defineTool({
    name: "slow",
    title: "Wait for the end",
    description: "Waits until it is stopped, holding a connection where one is to be had, and tells how it goes on.",
    inputSchema: z.object({
      steps: z.number().int().min(0).max(100).default(0).describe("Progress updates to send at once"),
    }),
    outputSchema: z.object({}),
    annotations: { ...reads, openWorldHint: true },
    async execute(input, context) {
      saw("slow", input);
      for (let step = 1; step <= input.steps; step++)
        context.progress({ progress: step, total: input.steps, message: `step ${step}` });
      const socket = options.slowPort === undefined ? undefined : connect(options.slowPort, "127.0.0.1");
      socket?.on("error", () => undefined);
      try {
        return await new Promise<Record<string, never>>((_resolve, reject) => {
          const stop = () => reject(context.signal.reason);
          if (context.signal.aborted) stop();
          else context.signal.addEventListener("abort", stop, { once: true });
        });
      } finally {
        socket?.destroy();
      }
    },
    render: () => "",
  });

  const target = (path: string | undefined, directory: string) => path ?? options.file ?? `${directory}/fixture.txt`;
  const asks = defineTool({
    name: "asks",
    title: "Ask, then write",
    description: "Asks for a file and then writes it. Use it to see whether a person is asked and obeyed.",
    inputSchema: z.object({ path: z.string().optional().describe("Absolute path of the file") }),
    outputSchema: z.object({ path: z.string() }),
    annotations: writes,
    async execute(input, context) {
      saw("asks", input);
      const path = target(input.path, context.directory);
      await context.ask({ permission: "file.write", resources: [path], reason: "the fixture writes one line" });
      await writeFile(path, "asked\n");
      return { path };
    },
    render: ({ path }) => `wrote ${path}`,
  });

  const changesFiles = defineTool({
    name: "changes_files",
    title: "Change a file",
    description: "Creates a file inside the workspace and tells what changed, as tools do that edit.",
    inputSchema: z.object({ path: z.string().optional().describe("Absolute path of the file") }),
    outputSchema: z.object({ path: z.string() }),
    annotations: writes,
    effects: (input, context) => [{ permission: "file.write", resource: target(input.path, context.directory) }],
    async execute(input, context) {
      saw("changes_files", input);
      const path = target(input.path, context.directory);
      await context.ask({ permission: "file.write", resources: [path], reason: "the fixture writes one line" });
      await writeFile(path, "changed\n");
      const state = { version: "0".repeat(64), bytes: 8, lines: 1, mode: 0o644 };
      return toolOutput(
        { path },
        {
          fileChanges: [
            {
              kind: "create",
              path,
              before: null,
              after: state,
              additions: 1,
              deletions: 0,
              diff: "",
              diffTruncated: false,
            },
          ],
        },
      );
    },
    render: ({ path }) => `created ${path}`,
  });

  return [echo, defaults, fails, slow, asks, changesFiles];
}
