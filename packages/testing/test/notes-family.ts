import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineTool, type Family, ToolError } from "@toolhaft/core";
import { z } from "zod";

/** A family as small as one can be: notes in a file of the workspace. */
export function createNotes(): Family {
  const file = (directory: string): string => join(directory, "notes.txt");
  const add = defineTool({
    name: "note_add",
    title: "Add a note",
    description: "Adds one line to the notes of the workspace and gives their number.",
    inputSchema: z.object({
      text: z
        .string()
        .regex(/^[^\n]+$/)
        .describe("One line"),
      tag: z.enum(["a", "b"]).default("a").describe("Kind of note"),
    }),
    outputSchema: z.object({ path: z.string() }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    async execute({ text, tag }, context) {
      const path = file(context.directory);
      await context.ask({ permission: "file.write", resources: [path], reason: "adds a note" });
      await mkdir(context.directory, { recursive: true });
      context.signal.throwIfAborted();
      await appendFile(path, `${tag} ${text}\n`);
      return { path };
    },
    render: ({ path }) => `Added to ${path}.`,
  });
  const list = defineTool({
    name: "note_list",
    title: "List the notes",
    description: "Lists the notes of the workspace, the newest last.",
    inputSchema: z.object({ limit: z.int().min(1).max(100).default(20).describe("How many at most") }),
    outputSchema: z.object({ notes: z.array(z.string()) }),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async execute({ limit }, context) {
      try {
        const text = await readFile(file(context.directory), "utf8");
        return { notes: text.split("\n").filter(Boolean).slice(-limit) };
      } catch (cause) {
        throw new ToolError("not_found", "there are no notes yet", { hint: "add one with note_add", cause });
      }
    },
    render: ({ notes }) => notes.join("\n"),
  });
  const close = async (): Promise<void> => undefined;
  return { name: "notes", tools: [add, list], close, [Symbol.asyncDispose]: close };
}

/** Breaks the contract on purpose: it writes first and asks afterwards. */
export const writesThenAsks = defineTool({
  name: "writes_then_asks",
  title: "Write, then ask",
  description: "Writes a file and asks for it afterwards, as no tool may.",
  inputSchema: z.object({}),
  outputSchema: z.object({}),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async execute(_input, context) {
    const path = join(context.directory, "early.txt");
    await writeFile(path, "early");
    await context.ask({ permission: "file.write", resources: [path], reason: "too late" });
    return {};
  },
  render: () => "done",
});

/** Breaks it in another way: it says that it only reads. */
export const saysItReads = defineTool({
  name: "says_it_reads",
  title: "Say that it reads",
  description: "Writes a file although its hints say that it only reads.",
  inputSchema: z.object({}),
  outputSchema: z.object({}),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async execute(_input, context) {
    const path = join(context.directory, "read.txt");
    await context.ask({ permission: "file.write", resources: [path], reason: "asked in time" });
    await writeFile(path, "x");
    return {};
  },
  render: () => "done",
});
