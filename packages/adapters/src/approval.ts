import {
  type AnyTool,
  type Asker,
  type ContextInit,
  createContext,
  createPolicy,
  defaultPolicy,
  type Policy,
  type Verdict,
} from "@toolhaft/core";

/** Permissions that a person has granted through the host, by call id and exact input. */
export interface HostApprovals {
  /** Whether the host must ask for this call: its policy verdict, or that of one of its effects, is "ask". */
  needed(tool: AnyTool, callId: string, input: unknown, init: ContextInit): boolean;
  /** An asker that passes on the host's yes, once, and only for what was asked. */
  asker(tool: AnyTool, callId: string, input: unknown, otherwise: Asker | undefined): Asker | undefined;
}

/** Calls that were asked for and never ran are forgotten after this many. */
const maxWaiting = 1_000;

export function createHostApprovals(): HostApprovals {
  const waiting = new Map<string, { input: string; foreseen: ReadonlySet<string> }>();
  return {
    needed(tool, callId, input, init) {
      const foreseen = questionsOf(tool, input, init);
      if (foreseen.size === 0) return false;
      waiting.delete(callId);
      waiting.set(callId, { input: keyOf(tool, input), foreseen });
      const [oldest] = waiting.keys();
      if (waiting.size > maxWaiting && oldest !== undefined) waiting.delete(oldest);
      return true;
    },
    asker(tool, callId, input, otherwise) {
      const granted = waiting.get(callId);
      waiting.delete(callId);
      if (granted === undefined || granted.input !== keyOf(tool, input)) return otherwise;
      return async (request) => {
        const asked = request.resources.map((resource) => effectKey(request.permission, resource));
        if (asked.every((key) => granted.foreseen.has(key))) return { allow: true };
        if (otherwise !== undefined) return otherwise(request);
        return { allow: false, feedback: "the host asked for less than this call needs" };
      };
    },
  };
}

/** What a call would ask for before it runs. Bad input and denied calls ask nothing: they fail by themselves. */
function questionsOf(tool: AnyTool, raw: unknown, init: ContextInit): ReadonlySet<string> {
  const parsed = tool.parse(raw);
  if (!parsed.ok) return new Set();
  const context = createContext(init);
  const policy = init.policy ?? defaultPolicy(context.directory, context.roots);
  const whole = policy.check({ tool: tool.name, agent: context.agent });
  if (whole.effect === "deny") return new Set();
  const effects = tool.effects(parsed.input, context);
  const verdicts = effects.map((effect) => ({
    effect,
    verdict: verdictOf(policy, tool, context.agent, effect.permission, effect.resource),
  }));
  if (verdicts.some(({ verdict }) => verdict.effect === "deny")) return new Set();
  const asked = verdicts
    .filter(({ verdict }) => verdict.effect === "ask")
    .map(({ effect }) => effectKey(effect.permission, effect.resource));
  // Core asks for the tool as a whole only when none of its effects was asked for.
  return new Set(whole.effect === "ask" && asked.length === 0 ? [effectKey("tool.call", tool.name)] : asked);
}

/** The tool's own rules stand below all others. */
function verdictOf(policy: Policy, tool: AnyTool, agent: string, permission: string, resource: string): Verdict {
  const query = { tool: tool.name, agent, permission, resource };
  const verdict = policy.check(query);
  if (verdict.rule !== undefined || verdict.effect === "deny" || tool.defaultRules.length === 0) return verdict;
  const own = createPolicy({ rules: tool.defaultRules }).check(query);
  return own.rule === undefined ? verdict : own;
}

function keyOf(tool: AnyTool, input: unknown): string {
  return JSON.stringify([tool.name, input]);
}

function effectKey(permission: string, resource: string): string {
  return JSON.stringify([permission, resource]);
}
