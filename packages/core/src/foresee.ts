import type { Asker, ContextInit } from "./context.ts";
import { completeContext, gateAskerOf, toolVerdict } from "./create-context.ts";
import type { AnyTool, Effect } from "./tool.ts";

/**
 * What a call would ask a person before it runs, as far as its input tells. For hosts that ask by themselves before they
 * call. Bad input and what the policy denies ask nothing: such calls fail by themselves.
 */
export function foresee(tool: AnyTool, raw: unknown, init: ContextInit = {}): readonly Effect[] {
  const parsed = tool.parse(raw);
  if (!parsed.ok) return [];
  const calling = { tool: tool.name, defaultRules: tool.defaultRules, toolName: undefined };
  const context = completeContext(init, calling);
  const whole = toolVerdict(context, tool.name);
  if (whole?.effect === "deny") return [];
  const effects = tool.effects(parsed.input, context);
  const answers = effects.map(({ permission, resource }) => context.permits(permission, resource));
  if (answers.includes("deny")) return [];
  const asked = effects.filter((_effect, index) => answers[index] === "ask");
  // The tool as a whole is asked for only when none of its effects was.
  const ofTool = { permission: "tool.call", resource: tool.name };
  const asksTool = whole?.effect === "ask" && !answers.includes("ask");
  return asksTool && context.permits(ofTool.permission, ofTool.resource) === "ask" ? [ofTool] : asked;
}

/** Who puts questions to a person in calls with this context, if anybody. */
export function askerOf(init: ContextInit): Asker | undefined {
  return init.asker ?? gateAskerOf(init);
}
