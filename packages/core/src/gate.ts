import type { Ask, Asker, Decision, PermissionRequest } from "./context.ts";
import { ToolError } from "./errors.ts";
import { policyOf } from "./policy/create-policy.ts";
import { realPath } from "./policy/default-policy.ts";
import type { Policy, PolicyRule, Verdict } from "./policy/types.ts";

/** How long a person may take to answer, in milliseconds. */
export const defaultAskTimeoutMs = 600_000;

/** What a conversation's calls share: who decides, and what was answered for the session. */
export interface Gate {
  readonly policy: Policy;
  readonly asker: Asker | undefined;
  readonly askTimeoutMs: number;
  /** Keys of {@link answerKey} that hold for the session. */
  readonly remembered: Set<string>;
}

/** On whose behalf the gate is asked. */
export interface Caller {
  readonly tool: string;
  readonly defaultRules: readonly PolicyRule[];
  readonly callId: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly signal: AbortSignal;
}

/** The hint of every refusal. */
const doNotRepeat = "do not repeat this call unchanged";

/** The gate's answer without asking anybody. Rules of the tool itself stand below all others. */
export function verdictOf(gate: Gate, caller: Caller, permission: string, resource: string): Verdict {
  const query = { tool: caller.tool, agent: caller.agent, permission, resource };
  const verdict = gate.policy.check(query);
  if (verdict.rule !== undefined || verdict.effect === "deny" || caller.defaultRules.length === 0) return verdict;
  const own = policyOf(
    caller.defaultRules.map((rule) => ({ rule, directory: undefined })),
    "ask",
  ).check(query);
  return own.rule === undefined ? verdict : own;
}

/** The same, with what a person answered before. */
export function permitted(gate: Gate, caller: Caller, permission: string, resource: string): Verdict["effect"] {
  const { effect } = verdictOf(gate, caller, permission, resource);
  return effect === "ask" && gate.remembered.has(answerKey(caller, permission, resource)) ? "allow" : effect;
}

/**
 * The gate of one call. Answers count for this call and the same resource, or for the session where the person said so.
 */
export function bindAsk(gate: Gate, caller: Caller): Ask {
  let granted: Map<string, Promise<void>> | undefined;
  return async (request) => {
    const open = questionsOf(gate, caller, request);
    if (open.length === 0) return;
    if (request.fresh) return put(gate, caller, { ...request, resources: open });
    granted ??= new Map();
    const known = granted;
    const keyOf = (resource: string): string => answerKey(caller, request.permission, resource);
    const waiting = open.filter((resource) => !gate.remembered.has(keyOf(resource)));
    const unasked = waiting.filter((resource) => !known.has(keyOf(resource)));
    if (unasked.length > 0) {
      const answer = put(gate, caller, { ...request, resources: unasked });
      for (const resource of unasked)
        for (const spelling of spellings(request.permission, resource)) known.set(keyOf(spelling), answer);
    }
    await Promise.all(waiting.map((resource) => known.get(keyOf(resource))));
  };
}

/** The resources that need a person; a denied one ends it here. */
function questionsOf(gate: Gate, caller: Caller, request: PermissionRequest): string[] {
  const open: string[] = [];
  for (const resource of request.resources) {
    const verdict = verdictOf(gate, caller, request.permission, resource);
    if (verdict.effect === "deny") {
      throw new ToolError("denied", `${request.permission} ${resource} is not allowed (${verdict.reason})`, {
        hint: doNotRepeat,
        details: {
          by: "policy",
          permission: request.permission,
          resources: [resource],
          ...(verdict.rule === undefined ? {} : { rule: verdict.rule }),
        },
      });
    }
    if (verdict.effect === "ask" && !open.includes(resource)) open.push(resource);
  }
  return open;
}

/** Puts one question; resolves on yes. */
async function put(gate: Gate, caller: Caller, request: PermissionRequest): Promise<void> {
  const { asker } = gate;
  const what = `${request.permission} ${request.resources.join(", ")}`;
  if (asker === undefined) {
    const rules = request.resources.map((resource) => `${request.permission}:${resource}`);
    throw new ToolError("denied", `${what} needs a person's permission, and nobody can be asked here`, {
      hint: `${doNotRepeat}; whoever runs this can add the rule: ${rules.map((rule) => `--allow '${rule}'`).join(" ")}`,
      details: { by: "no_asker", permission: request.permission, resources: request.resources, rules },
    });
  }
  const decision = await answerOf(asker, gate.askTimeoutMs, caller, request, what);
  if (!decision.allow) {
    const feedback = decision.feedback?.trim();
    throw new ToolError("denied", `${what} was refused by the user${feedback ? `: ${feedback}` : ""}`, {
      hint: doNotRepeat,
      details: {
        by: "user",
        permission: request.permission,
        resources: request.resources,
        ...(feedback ? { feedback } : {}),
      },
    });
  }
  if (decision.remember !== "session" || request.fresh) return;
  for (const resource of request.resources) {
    for (const spelling of spellings(request.permission, resource))
      gate.remembered.add(answerKey(caller, request.permission, spelling));
  }
}

/** The first answer counts; an asker that throws, stays silent or outlives the call is a no. */
function answerOf(
  asker: Asker,
  timeoutMs: number,
  caller: Caller,
  request: PermissionRequest,
  what: string,
): Promise<Decision> {
  const { signal } = caller;
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      settle();
    };
    const onAbort = (): void =>
      end(() => reject(new ToolError("cancelled", `the call ended while ${what} was being asked`)));
    const refuse = (by: string, message: string, cause?: unknown): void =>
      end(() =>
        reject(
          new ToolError("denied", message, {
            hint: doNotRepeat,
            details: { by, permission: request.permission, resources: request.resources },
            cause,
          }),
        ),
      );
    const timer = setTimeout(
      () => refuse("timeout", `${what} was asked, and nobody answered within ${timeoutMs} ms`),
      timeoutMs,
    );
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) return onAbort();
    const question = {
      ...request,
      tool: caller.tool,
      callId: caller.callId,
      sessionId: caller.sessionId,
      agent: caller.agent,
      signal,
    };
    Promise.resolve()
      .then(() => asker(question))
      .then(
        (decision) => {
          if (decision === null || typeof decision !== "object" || typeof decision.allow !== "boolean")
            refuse("no_asker", `${what} was asked, and the answer was neither yes nor no`);
          else end(() => resolve(decision));
        },
        (cause: unknown) => {
          if (cause instanceof ToolError) end(() => reject(cause));
          else refuse("no_asker", `${what} could not be asked: the host failed to put the question`, cause);
        },
      );
  });
}

function answerKey(caller: Caller, permission: string, resource: string): string {
  return JSON.stringify([caller.sessionId, caller.agent, caller.tool, permission, resource]);
}

/** A grant for a file covers the path as written and the real one. */
function spellings(permission: string, resource: string): readonly string[] {
  if (!permission.startsWith("file.")) return [resource];
  const real = realSpelling(resource);
  return real === resource ? [resource] : [resource, real];
}

/** The real path of the nearest folder that exists, and the rest as given. */
function realSpelling(path: string): string {
  for (let at = path.length; at > 0; at = path.lastIndexOf("/", at - 1)) {
    const head = path.slice(0, at);
    const real = realPath(head);
    if (real !== head) return real.replaceAll("\\", "/") + path.slice(at);
  }
  return path;
}
