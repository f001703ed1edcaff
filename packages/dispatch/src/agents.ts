import { nearest, ToolError } from "@toolhaft/core";
import type { BudgetLimits, TimeLimits } from "@toolhaft/tasks";
import type { SubagentRunner } from "./runner.ts";

/** One subagent that can be dispatched. */
export interface AgentSpec {
  name: string;
  /** For the model that chooses: what it is good for. */
  description: string;
  runner: SubagentRunner;
  /** What is limited together. @default the runner's model, else the agent's name */
  lane?: string;
  /** Whom it may dispatch in turn. @default nobody */
  dispatches?: readonly string[] | "*";
  /** It may stand twice on one chain of callers. @default false */
  allowRecursion?: boolean;
  limits?: Partial<TimeLimits>;
  /** For each of its tasks with all below it. */
  budget?: BudgetLimits;
  maxAttempts?: number;
  /** `fail` where work must not be repeated. @default that of the dispatcher */
  onLost?: "requeue" | "fail";
  /** An empty answer is a success. @default false */
  allowEmptyOutput?: boolean;
  /** A person is asked before each launch. @default false */
  ask?: boolean;
}

/** Where agents are looked up. */
export interface AgentDirectory {
  get(name: string): Promise<AgentSpec | undefined>;
  list(): Promise<readonly AgentSpec[]>;
}

/** A directory over a plain list, or the one given. @throws TypeError for a list with a name twice or a bad name */
export function directoryOf(agents: AgentDirectory | readonly AgentSpec[]): AgentDirectory {
  if (!isList(agents)) return agents;
  const byName = new Map<string, AgentSpec>();
  for (const agent of agents) {
    if (!/^[^\s\p{C}]{1,100}$/u.test(agent.name))
      throw new TypeError(`createDispatch: agents: "${agent.name}" is no name of 1 to 100 visible characters`);
    if (byName.has(agent.name)) throw new TypeError(`createDispatch: agents: "${agent.name}" stands there twice`);
    byName.set(agent.name, agent);
  }
  return { get: async (name) => byName.get(name), list: async () => [...byName.values()] };
}

export function isList(agents: AgentDirectory | readonly AgentSpec[]): agents is readonly AgentSpec[] {
  return Array.isArray(agents);
}

export function laneOf(agent: AgentSpec): string {
  return agent.lane ?? agent.runner.model ?? agent.name;
}

/** What a caller may dispatch: its own list, or the top level's. */
export interface Grant {
  names: readonly string[] | "*";
}

/** The agents that a grant covers. */
export async function granted(directory: AgentDirectory, { names }: Grant): Promise<readonly AgentSpec[]> {
  const all = await directory.list();
  return names === "*" ? all : all.filter(({ name }) => names.includes(name));
}

/**
 * The agent under a name, when the caller may dispatch it.
 *
 * @throws ToolError `not_found`: the same for a name that is not there and one that is not allowed.
 */
export async function findAgent(directory: AgentDirectory, grant: Grant, name: string): Promise<AgentSpec> {
  const agent = grant.names === "*" || grant.names.includes(name) ? await directory.get(name) : undefined;
  if (agent !== undefined) return agent;
  const names = (await granted(directory, grant)).map((one) => one.name);
  const near = nearest(name, names);
  throw new ToolError(
    "not_found",
    `no subagent "${name}" that you may dispatch${near.length > 0 ? `; did you mean ${near.join(", ")}?` : ""}`,
    {
      hint:
        names.length === 0
          ? "you may dispatch nobody; do the work yourself"
          : `there are: ${names.slice(0, 30).join(", ")}; agent_list describes them`,
    },
  );
}
