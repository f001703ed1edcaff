import { type AnyTool, defineTool, ToolError } from "@toolhaft/core";
import { z } from "zod";
import type { Desk } from "../desk.ts";
import { sessionId, summarySchema } from "../schemas.ts";
import { locate } from "../scope.ts";
import { oneLine, plural, shownText } from "../show.ts";

/** `session_fork`: a new session that holds everything up to a message of another. */
export function forkTool(desk: Desk): AnyTool {
  return defineTool({
    name: "session_fork",
    title: "Fork a session",
    description: "Makes a new session from another's messages up to one of them, and says how to go on with it.",
    keywords: ["branch", "copy", "continue", "resume"],
    inputSchema: z.object({
      session_id: sessionId,
      message_id: z.string().min(1).optional().describe("Last one: id or #n."),
      title: z.string().min(1).max(200).optional().describe("Its title."),
    }),
    outputSchema: z.object({
      source: summarySchema,
      fork: summarySchema,
      at: z.object({ messageId: z.string(), index: z.number() }),
      copied: z.number(),
      resume: z.string().nullable(),
      notes: z.array(z.string()),
    }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    failureLead: "No fork was made.",
    async execute(input, context) {
      const { store, summary } = await locate(desk, input.session_id, context);
      const { forker } = store;
      if (forker === undefined) {
        throw new ToolError("unsupported", store.unsupported.fork ?? `${store.source} cannot fork`, {
          hint: "read the session and record a new one",
        });
      }
      const result = await forker.fork(
        summary.id,
        input.message_id,
        { ask: (request) => context.ask(request), ...(input.title !== undefined && { title: input.title }) },
        context.signal,
      );
      return {
        source: { ...summary, title: shownText(summary.title, desk.redact) },
        fork: { ...result.fork, title: shownText(result.fork.title, desk.redact) },
        at: result.at,
        copied: result.copied,
        resume: result.resume,
        notes: [...result.notes],
      };
    },
    render(data) {
      const lines = [
        `Original: ${oneLine(data.source.title) || "(untitled)"} · ${data.source.id}`,
        `New:      ${oneLine(data.fork.title) || "(untitled)"} · ${data.fork.id} · ${data.copied} of ${plural(data.source.messages, "message")}, up to #${data.at.index}`,
      ];
      if (data.resume !== null) lines.push(`Go on with: ${data.resume}`);
      return [...lines, ...data.notes].join("\n");
    },
  });
}
