import { type AnyTool, defineTool, nearest, showInvisible, ToolError, toJsonSchema } from "@toolhaft/core";
import { z } from "zod";
import type { Entry } from "../catalogue.ts";
import type { MetaState } from "../meta.ts";

const Row = z.object({
  name: z.string(),
  status: z.enum(["loaded", "already_loaded", "not_found"]),
  tokens: z.number(),
  near: z.array(z.string()),
  description: z.string().nullable(),
  inputSchema: z.string().nullable(),
});

/** Puts tools into the session's list and tells how to call them. */
export function toolLoad(state: MetaState): AnyTool {
  return defineTool({
    name: "tool_load",
    title: "Load tools",
    description:
      "Loads tools by name so that they can be called in this session. Gives description and parameters of each, so it can be called at once even where the list of tools is read only once.",
    keywords: ["enable tool", "activate tool", "werkzeug laden", "加载工具"],
    inputSchema: z.object({
      names: z
        .array(z.string().min(1).max(64))
        .min(1)
        .max(16)
        .optional()
        .describe("Names of the tools, as tool_search gives them"),
      name: z.string().min(1).max(64).optional().describe("One name, in place of names"),
    }),
    outputSchema: z.object({ tools: z.array(Row), added: z.number(), total: z.number(), budget: z.number() }),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    maxTextChars: 60_000,
    async execute({ names, name }, context) {
      const wanted = [...new Set([...(names ?? []), ...(name === undefined ? [] : [name])])];
      if (wanted.length === 0)
        throw new ToolError("invalid_input", "names is missing", {
          hint: 'give names, such as {"names":["memory_recall"]}',
        });
      const { entries } = state.view(context);
      const found = wanted.flatMap((one) => entries.get(one) ?? []);
      if (found.length === 0) throw notFound(wanted, entries.keys());
      const fresh = found.filter(({ tool }) => !state.isLoaded(context, tool.name));
      const added = fresh.reduce((sum, { tokens }) => sum + tokens, 0);
      const total = state.loadedTokens(context) + added;
      if (fresh.length > 0 && total > state.maxLoadedTokens) throw tooLarge(fresh, added, total, state.maxLoadedTokens);
      if (fresh.length > 0)
        state.load(
          context,
          fresh.map(({ tool }) => tool.name),
        );
      const rows = wanted.map((one) => rowOf(one, entries.get(one), fresh, entries.keys()));
      return { tools: rows, added, total, budget: state.maxLoadedTokens };
    },
    render({ tools, added, total, budget }, _input, toolName) {
      const parts = tools.map(({ name, status, near, description, inputSchema, tokens }) => {
        if (status === "not_found")
          return `${showInvisible(name)}: not found${near.length > 0 ? `; nearest: ${near.join(", ")}` : ""}`;
        const state = status === "loaded" ? `loaded (≈ ${tokens} tokens)` : "already loaded";
        return `${name}: ${state}. ${description ?? ""}\n${inputSchema ?? ""}`;
      });
      const [first] = tools.filter(({ status }) => status !== "not_found");
      const how =
        state.hasCall && first !== undefined
          ? ` A tool that is not in your list runs through ${toolName("tool_call")} {"name":${JSON.stringify(first.name)},"input":{…}}.`
          : "";
      return `${parts.join("\n\n")}\n\n≈ ${added} tokens added, ${total} of ${budget} in all.${how}`;
    },
  }) as AnyTool;
}

function rowOf(
  name: string,
  entry: Entry | undefined,
  fresh: readonly Entry[],
  names: Iterable<string>,
): z.infer<typeof Row> {
  if (entry === undefined)
    return { name, status: "not_found", tokens: 0, near: nearest(name, names), description: null, inputSchema: null };
  const { tool, tokens } = entry;
  const status = fresh.includes(entry) ? "loaded" : "already_loaded";
  return {
    name,
    status,
    tokens,
    near: [],
    description: tool.description,
    inputSchema: JSON.stringify(toJsonSchema(tool, "mcp")),
  };
}

function notFound(wanted: readonly string[], known: Iterable<string>): ToolError {
  const names = [...known];
  const lines = wanted.map((name) => {
    const near = nearest(name, names);
    return `${JSON.stringify(showInvisible(name))}${near.length > 0 ? ` (nearest: ${near.join(", ")})` : ""}`;
  });
  return new ToolError("not_found", `no such tool: ${lines.join(", ")}`, { hint: "search with tool_search" });
}

function tooLarge(fresh: readonly Entry[], added: number, total: number, budget: number): ToolError {
  const each = fresh.map(({ tool, tokens }) => `${tool.name} ${tokens}`).join(", ");
  return new ToolError(
    "too_large",
    `loading would add ${added} tokens and make ${total}, over the ${budget} of a session; nothing was loaded`,
    {
      hint: `load fewer: ${each}`,
      details: { added, total, budget },
    },
  );
}
