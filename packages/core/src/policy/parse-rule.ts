import type { PolicyRule } from "./types.ts";

/**
 * A rule from its short form: `memory_*` (tools), `file.write:src/**` (permission and resources),
 * `@reviewer:web_*` (agents, then tools or a permission), `hashline_*:file.write:src/**` (tools, then a permission),
 * `*` (everything).
 *
 * @throws TypeError when the text is no rule.
 */
export function parseRule(effect: PolicyRule["effect"], text: string): PolicyRule {
  const wrong = (why: string): TypeError =>
    new TypeError(`policy: "${text}" is no rule, ${why}; write tool_*, permission.name:resource or @agent:rule`);
  if (text.trim() === "" || text !== text.trim()) throw wrong("it is empty or has white space around it");
  let rest = text;
  const rule: PolicyRule = { effect };
  if (rest.startsWith("@")) {
    const [agent, after] = head(rest.slice(1));
    if (agent === "") throw wrong("no agent stands after @");
    rule.agents = agent;
    if (after === undefined) return rule;
    if (after === "") throw wrong("nothing stands after the agent");
    rest = after;
  }
  let [first, after] = head(rest);
  if (!first.includes(".")) {
    if (first === "" || !/^[a-z0-9_*]+$/.test(first)) throw wrong(`"${first}" is neither a tool nor a permission`);
    rule.tools = first;
    if (after === undefined) return rule;
    if (after === "") throw wrong("nothing stands after the tool");
    [first, after] = head(after);
    if (!first.includes(".")) throw wrong(`"${first}" is no permission (it has no dot)`);
  }
  if (!/^[a-z0-9_*]+(?:\.[a-z0-9_*]+)+$/i.test(first)) throw wrong(`"${first}" is no permission`);
  rule.permission = first;
  if (after === "") throw wrong("nothing stands after the permission");
  if (after !== undefined) rule.resources = after;
  return rule;
}

/** What stands before the first colon and what after it. */
function head(text: string): [string, string | undefined] {
  const at = text.indexOf(":");
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
