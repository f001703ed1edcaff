import type { AgentSpec } from "../agents.ts";

const head = "Hands work to a subagent that sees only your prompt. In the background you are told when it ends.";
const maxDescription = 1_024;

/** The description names the agents when they are a plain list, as far as there is room. */
export function describe(listed: readonly AgentSpec[] | undefined, topLevel: readonly string[] | "*"): string {
  if (listed === undefined) return `${head} agent_list tells whom you may dispatch.`;
  const agents = topLevel === "*" ? listed : listed.filter(({ name }) => topLevel.includes(name));
  if (agents.length === 0) return `${head} agent_list tells whom you may dispatch.`;
  let shownText = `${head} Subagents:`;
  for (const [at, { name, description }] of agents.entries()) {
    const more = ` ${name} (${description.replace(/\s+/g, " ").trim().replace(/\.$/, "")})${at === agents.length - 1 ? "." : ";"}`;
    if (shownText.length + more.length > maxDescription - 40) return `${shownText} … agent_list has all.`;
    shownText += more;
  }
  return shownText;
}
