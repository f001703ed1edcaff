import { z } from "zod-opencode";
import { type OpencodeContext, type OpencodeOptions, toOpencode } from "../../src/opencode.ts";
import type { Host, Outcome, Turn } from "../conformance.ts";
import { objectOf } from "./scripted-fetch.ts";

/** `tool` of the plugin package: it gives back what it is given, and its `schema` is zod 4.1.8. */
const tool = Object.assign(<T>(definition: T): T => definition, { schema: z });

/** As opencode loads a plugin's tool and calls it: the arguments become one zod object, which reads what the model sent. */
export async function runOpencode(turn: Turn, host: OpencodeOptions["tool"] = tool): Promise<Outcome> {
  const tools = toOpencode(turn.tools, { tool: host, ...turn.options });
  const sent = Object.entries(tools).map(([name, { args }]) => ({ name, schema: schemaOf(args) }));
  let asked = 0;
  const directory = process.cwd();
  const context: OpencodeContext = {
    sessionID: "ses_1",
    messageID: "msg_1",
    callID: "call-1",
    agent: "build",
    directory,
    worktree: directory,
    abort: turn.signal ?? new AbortController().signal,
    metadata: () => undefined,
    async ask() {
      asked++;
      if (turn.approve !== true) throw new Error("The user rejected permission to use this tool");
    },
  };
  const called = tools[turn.name];
  if (called === undefined) throw new Error(`there is no tool ${turn.name}`);
  turn.signal?.throwIfAborted();
  try {
    const input = z.object(called.args).parse(objectOf(turn.input));
    const result = await called.execute(input, context);
    const { data, fileChanges } = result.metadata;
    return {
      text: result.output,
      failed: false,
      data,
      ...(Array.isArray(fileChanges) && { fileChanges }),
      images: (result.attachments ?? []).map(({ mime }) => mime),
      asked,
      sent,
    };
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error), failed: true, asked, sent };
  }
}

function schemaOf(args: Record<string, never>): unknown {
  const { $schema: _, ...schema } = z.toJSONSchema(z.object(args));
  return schema;
}

export const opencodeHost: Host = {
  name: "opencode's tool contract",
  // The host reads arguments with a plain zod object, which drops keys it does not know.
  lost: ["unknownKeys", "cutInput"],
  asks: "during",
  normalize: (schema) => withoutEmptyRequired(schema),
  run: (turn) => runOpencode(turn),
};

/** zod leaves `required` out or empty where ours does the other; and its order of keys is its own. */
function withoutEmptyRequired(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  const { required, ...rest } = schema as Record<string, unknown>;
  return Array.isArray(required) && required.length > 0 ? { ...rest, required: [...required].sort() } : rest;
}
