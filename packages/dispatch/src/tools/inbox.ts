import { type AnyTool, defineTool, ToolError } from "@toolhaft/core";
import type { StoredNotice } from "@toolhaft/tasks";
import { z } from "zod";
import type { Desk } from "../desk.ts";
import type { Engine } from "../engine/engine.ts";
import { makeNotice, type Notice } from "../notices/notice.ts";
import { noticeSchema, waitInput, writing } from "../schemas.ts";

/** A notice that is read here comes again after this, unless it is acknowledged. */
const leaseMs = 0;

/** `dispatch_inbox`: notices, for hosts that cannot put them into the conversation. */
export function inboxTool(desk: Desk): AnyTool {
  return defineTool({
    name: "dispatch_inbox",
    title: "Read notices about tasks",
    description:
      "Gives this session's notices: tasks that ended, questions that wait, milestones. They come again until acknowledged or read.",
    keywords: ["notifications", "messages", "done", "news"],
    inputSchema: z.object({
      ack: z.array(z.string()).max(100).default([]).describe("Ids dealt with."),
      limit: z.number().int().min(1).max(50).default(20).describe("Page size."),
      wait_ms: waitInput,
    }),
    outputSchema: z.object({ notices: z.array(noticeSchema), left: z.number().int(), acknowledged: z.number().int() }),
    annotations: writing,
    async execute({ ack, limit, wait_ms }, context) {
      const { engine, caller } = await desk.open(context);
      const to = caller.actor.sessionId;
      const acknowledged = await acknowledge(engine, to, ack);
      let stored: readonly StoredNotice[] = [];
      await engine.changes.until(
        async () => {
          stored = await engine.store.notices({ to: [to], limit: limit + 50, leaseMs });
          return stored.length > 0 ? true : undefined;
        },
        Math.min(wait_ms, desk.settings.maxWaitMs),
        context.signal,
      );
      const notices: Notice[] = [];
      for (const one of stored.slice(0, limit)) {
        const notice = await makeNotice(one, engine.store, (name) => context.toolName(name));
        if (notice !== undefined) notices.push(notice);
      }
      return { notices, left: Math.max(0, stored.length - limit), acknowledged };
    },
    render({ notices, left }, _input, toolName) {
      if (notices.length === 0) return "No notices.";
      const ids = notices.map(({ id }) => id);
      return [
        ...notices.map(({ text }) => text),
        `${left === 0 ? "No more." : `${left} more.`} Acknowledge with ${toolName("dispatch_inbox")} ${JSON.stringify({ ack: ids })}`,
      ].join("\n");
    },
  });
}

/** Only the own notices. @throws ToolError `denied` for another session's */
async function acknowledge(engine: Engine, to: string, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  for (const id of ids) {
    const task = await engine.store.get(id.split(":")[0] ?? "");
    if (task !== undefined && task.ownerSession !== to)
      throw new ToolError("denied", `the notice ${id} is not for this session`, {
        hint: "acknowledge what dispatch_inbox gave you",
        details: { by: "policy" },
      });
  }
  return engine.store.ackNotices(ids);
}
