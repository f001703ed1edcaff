import type { Family } from "@toolhaft/core";
import { nearest } from "@toolhaft/core";
import type { AgentSpec } from "@toolhaft/dispatch";
import { usageFault } from "./exit-codes.ts";
import { type FamilyOptions, tasksPlace } from "./families.ts";

/**
 * The dispatch family over the agents of the config, else the agent programs that are installed.
 *
 * @throws CommandFault for an agent that the config says wrong
 */
export async function createDispatchFamily(given: FamilyOptions): Promise<Family> {
  const { createDispatch, installedAgents } = await import("@toolhaft/dispatch");
  const { createTasks } = await import("@toolhaft/tasks");
  const { agents, ...options } = given.options?.dispatch ?? {};
  const tasks = createTasks(await tasksPlace(given));
  // Clients give a call about a minute, and what they started ends with them.
  const family = createDispatch({
    maxWaitMs: 50_000,
    onClose: "cancel",
    ...options,
    agents: agents === undefined ? installedAgents() : await agentsOf(agents),
    tasks,
  });
  const close = async () => {
    await family.close();
    await tasks.close();
  };
  return { name: family.name, tools: family.tools, close, [Symbol.asyncDispose]: close };
}

const accesses = ["read-only", "edit", "full"] as const;
const keys = ["preset", "description", "access", "dispatches", "model", "trustDirectory"];

async function agentsOf(agents: unknown): Promise<readonly AgentSpec[]> {
  const { claude, codex, gemini, opencode } = await import("@toolhaft/dispatch");
  const presets = new Map(Object.entries({ claude, codex, gemini, opencode }));
  if (typeof agents !== "object" || agents === null || Array.isArray(agents))
    throw usageFault("options.dispatch.agents is an object: a name and what it is");
  return Object.entries(agents).map(([name, given]): AgentSpec => {
    const where = `options.dispatch.agents.${name}`;
    const agent = fieldsOf(where, given);
    const make = presets.get(String(agent.preset));
    if (make === undefined)
      throw usageFault(
        `${where}.preset is ${JSON.stringify(agent.preset)}; it may be ${[...presets.keys()].join(", ")}`,
      );
    const access = accesses.find((one) => one === (agent.access ?? "edit"));
    if (access === undefined)
      throw usageFault(`${where}.access is ${JSON.stringify(agent.access)}; it may be ${accesses.join(", ")}`);
    if (typeof agent.description !== "string" || agent.description.trim() === "")
      throw usageFault(`${where}.description is missing: it tells the model what this agent is good for`);
    const { dispatches, model, trustDirectory } = agent;
    return {
      name,
      description: agent.description,
      runner: make({
        access,
        ...(typeof model === "string" && { model }),
        ...(trustDirectory === true && { trustDirectory }),
      }),
      ...(dispatches !== undefined && { dispatches: namesOf(`${where}.dispatches`, dispatches) }),
    };
  });
}

function fieldsOf(where: string, given: unknown): Readonly<Record<string, unknown>> {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw usageFault(`${where} is an object of ${keys.join(", ")}`);
  for (const key of Object.keys(given)) {
    if (keys.includes(key)) continue;
    const near = nearest(key, keys);
    throw usageFault(`${where}.${key} is unknown${near.length > 0 ? `: did you mean ${near.join(", ")}?` : ""}`);
  }
  return { ...given };
}

function namesOf(where: string, given: unknown): "*" | readonly string[] {
  if (given === "*") return given;
  if (Array.isArray(given) && given.every((name) => typeof name === "string")) return given;
  throw usageFault(`${where} is "*" or a list of names`);
}
