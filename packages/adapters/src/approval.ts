import { type AnyTool, type Asker, askerOf, type ContextInit, foresee } from "@toolhaft/core";

/** Permissions that a person has granted through the host, by exact input and, where the host tells it, call id. */
export interface HostApprovals {
  /** Whether the host must ask for this call: its policy verdict, or that of one of its effects, is "ask". */
  needed(tool: AnyTool, input: unknown, init: ContextInit, callId: string | undefined): boolean;
  /**
   * An asker that passes on the host's yes, once, and only for what was asked.
   *
   * @param approved Whether the host itself shows that a person agreed; else what `needed` noted tells.
   */
  asker(tool: AnyTool, input: unknown, init: ContextInit, callId: string, approved: boolean): Asker | undefined;
}

/** Calls that were asked for and never ran are forgotten after this many. */
const maxWaiting = 1_000;

export function createHostApprovals(): HostApprovals {
  const waiting = new Map<string, ReadonlySet<string>>();
  const take = (key: string): ReadonlySet<string> | undefined => {
    const noted = waiting.get(key);
    waiting.delete(key);
    return noted;
  };
  return {
    needed(tool, input, init, callId) {
      const foreseen = foreseenKeys(tool, input, init);
      if (foreseen.size === 0) return false;
      const key = keyOf(tool, input, callId);
      waiting.delete(key);
      waiting.set(key, foreseen);
      const [oldest] = waiting.keys();
      if (waiting.size > maxWaiting && oldest !== undefined) waiting.delete(oldest);
      return true;
    },
    asker(tool, input, init, callId, approved) {
      // Some hosts do not say for which call they ask: their yes counts for one call with this very input.
      const noted = take(keyOf(tool, input, callId)) ?? take(keyOf(tool, input, undefined));
      const granted = approved ? foreseenKeys(tool, input, init) : noted;
      if (granted === undefined || granted.size === 0) return undefined;
      const otherwise = askerOf(init);
      return async (request) => {
        const asked = request.resources.map((resource) => effectKey(request.permission, resource));
        if (asked.every((each) => granted.has(each))) return { allow: true };
        if (otherwise !== undefined) return otherwise(request);
        return { allow: false, feedback: "the host asked for less than this call needs" };
      };
    },
  };
}

function foreseenKeys(tool: AnyTool, input: unknown, init: ContextInit): ReadonlySet<string> {
  return new Set(foresee(tool, input, init).map(({ permission, resource }) => effectKey(permission, resource)));
}

function keyOf(tool: AnyTool, input: unknown, callId: string | undefined): string {
  return JSON.stringify([tool.name, callId ?? null, input]);
}

function effectKey(permission: string, resource: string): string {
  return JSON.stringify([permission, resource]);
}
