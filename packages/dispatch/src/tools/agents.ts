import { type AnyTool, defineTool } from "@toolhaft/core";
import { z } from "zod";
import { granted, laneOf } from "../agents.ts";
import type { Desk } from "../desk.ts";
import { grantOf } from "../launch.ts";
import { readOnly, text } from "../schemas.ts";

/** `agent_list`: whom the caller may dispatch. */
export function agentsTool(desk: Desk): AnyTool {
  return defineTool({
    name: "agent_list",
    title: "List subagents",
    description: "Lists the subagents you may dispatch, what for, and how busy their lanes are.",
    keywords: ["subagents", "workers", "roles", "who"],
    inputSchema: z.object({
      query: text("Words in name or description.", 200).optional(),
    }),
    outputSchema: z.object({
      agents: z.array(
        z.object({
          name: z.string(),
          description: z.string(),
          lane: z.string(),
          active: z.number().int(),
          limit: z.number().int(),
        }),
      ),
    }),
    annotations: readOnly,
    async execute({ query }, context) {
      const { engine, caller } = await desk.open(context);
      const grant = await grantOf(desk, caller);
      const lanes = new Map((await engine.store.lanes()).map((lane) => [lane.lane, lane]));
      const words = (query ?? "").normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean);
      const agents = (await granted(desk.settings.agents, grant))
        .filter(({ name, description }) => {
          const all = `${name} ${description}`.normalize("NFKC").toLowerCase();
          return words.every((word) => all.includes(word));
        })
        .map((agent) => {
          const lane = laneOf(agent);
          const { active } = lanes.get(lane) ?? { active: { sync: 0, background: 0 } };
          const { lanes: own, default: other } = desk.settings.lanes;
          return {
            name: agent.name,
            description: agent.description,
            lane,
            active: active.sync + active.background,
            limit: (own?.[lane] ?? other).limit,
          };
        });
      return { agents };
    },
    render: ({ agents }) =>
      agents.length === 0
        ? "There is no subagent that you may dispatch."
        : agents
            .map(
              ({ name, lane, active, limit, description }) =>
                `${name} (lane ${lane}, ${active} of ${limit} busy): ${description}`,
            )
            .join("\n"),
  });
}
