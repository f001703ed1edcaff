import { roomForListeners } from "./abort.ts";
import type { Asker, Decision, PermissionRequest, ToolContext } from "./context.ts";
import { isToolError, ToolError } from "./errors.ts";
import { policyOf } from "./policy/create-policy.ts";
import { realPath } from "./policy/default-policy.ts";
import type { Policy, PolicyRule, Verdict } from "./policy/types.ts";
import type { AnyTool } from "./tool.ts";

/** How long a person may take to answer, in milliseconds. */
export const defaultAskTimeoutMs = 600_000;

/** What a conversation's calls share: who decides, and what was answered for the session. */
export interface Gate {
  readonly policy: Policy;
  readonly asker: Asker | undefined;
  readonly askTimeoutMs: number;
  /** The id of a call that nobody named. */
  nextCallId(): string;
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

/** Answers of one call by {@link answerKey}; shared by whatever repeats it. */
export interface Answers {
  given: Map<string, Promise<void>> | undefined;
}

/** Resolves when every resource may be touched. An answer counts for this call and resource, or for the session. */
export async function askGate(gate: Gate, caller: Caller, answers: Answers, request: PermissionRequest): Promise<void> {
  const open = questionsOf(gate, caller, request);
  if (open.length === 0) return;
  if (request.fresh) return put(gate, caller, { ...request, resources: open });
  answers.given ??= new Map();
  const { given } = answers;
  const keyOf = (resource: string): string => answerKey(caller, request.permission, resource);
  const waiting = open.filter((resource) => !gate.remembered.has(keyOf(resource)));
  const unasked = waiting.filter((resource) => !given.has(keyOf(resource)));
  if (unasked.length > 0) {
    const answer = put(gate, caller, { ...request, resources: unasked });
    for (const resource of unasked)
      for (const spelling of spellings(request.permission, resource)) given.set(keyOf(spelling), answer);
  }
  await Promise.all(waiting.map((resource) => given.get(keyOf(resource))));
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
  const what = describe(request);
  if (asker === undefined) {
    const rules = request.resources.map((resource) => `${request.permission}:${resource}`);
    throw new ToolError("denied", `${what} needs a person's permission, and nobody can be asked here`, {
      hint: `${doNotRepeat}; whoever runs this can add the rule: ${rules.map((rule) => `--allow '${rule}'`).join(" ")}`,
      details: { by: "no_asker", permission: request.permission, resources: request.resources, rules },
    });
  }
  const decision = await askPerson(asker, gate.askTimeoutMs, caller, request);
  if (!decision.allow) throw refusal(what, request, decision.feedback);
  if (decision.remember !== "session" || request.fresh) return;
  for (const resource of request.resources) {
    for (const spelling of spellings(request.permission, resource))
      gate.remembered.add(answerKey(caller, request.permission, spelling));
  }
}

function describe(request: PermissionRequest): string {
  return `${request.permission} ${request.resources.join(", ")}`;
}

/** What a person's no becomes. */
export function refusal(
  what: string,
  request: Pick<PermissionRequest, "permission" | "resources">,
  feedback?: string,
): ToolError {
  const said = feedback?.trim();
  const { permission, resources } = request;
  return new ToolError("denied", `${what} was refused by the user${said ? `: ${said}` : ""}`, {
    hint: doNotRepeat,
    details: { by: "user", permission, resources, ...(said ? { feedback: said } : {}) },
  });
}

/** Who asks, for a question that does not come from the tool itself. */
export function callerOf(tool: AnyTool, context: ToolContext): Caller {
  const { callId, sessionId, agent, signal } = context;
  return { tool: tool.name, defaultRules: tool.defaultRules, callId, sessionId, agent, signal };
}

/**
 * A person's answer. The first one counts; an asker that throws or gives no answer, silence beyond the time-out and the
 * end of the call are a no.
 */
export function askPerson(
  asker: Asker,
  timeoutMs: number,
  caller: Caller,
  request: PermissionRequest,
): Promise<Decision> {
  const { tool, callId, sessionId, agent, signal } = caller;
  const { permission, resources } = request;
  const what = describe(request);
  const refused = (by: string, message: string, cause?: unknown): ToolError =>
    new ToolError("denied", message, { hint: doNotRepeat, details: { by, permission, resources }, cause });
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    const fail = (error: ToolError): void => {
      end();
      reject(error);
    };
    const onAbort = (): void => fail(new ToolError("cancelled", `the call ended while ${what} was being asked`));
    const timer = setTimeout(
      () => fail(refused("timeout", `${what} was asked, and nobody answered within ${timeoutMs} ms`)),
      timeoutMs,
    );
    if (signal.aborted) {
      onAbort();
      return;
    }
    roomForListeners(signal);
    signal.addEventListener("abort", onAbort, { once: true });
    const answered = (decision: unknown): void => {
      if (!isDecision(decision)) fail(refused("no_asker", `${what} was asked, and the answer was neither yes nor no`));
      else {
        end();
        resolve(decision);
      }
    };
    const broken = (cause: unknown): void =>
      fail(
        isToolError(cause)
          ? cause
          : refused("no_asker", `${what} could not be asked: the host failed to put the question`, cause),
      );
    Promise.resolve()
      .then(() => asker({ ...request, tool, callId, sessionId, agent, signal }))
      .then(answered, broken);
  });
}

function isDecision(value: unknown): value is Decision {
  return typeof value === "object" && value !== null && "allow" in value && typeof value.allow === "boolean";
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
