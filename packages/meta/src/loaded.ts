import type { Entry } from "./catalogue.ts";

/** What each session has loaded; the least recently used sessions are forgotten. */
export interface LoadedSets {
  /** In the order of loading. */
  names(sessionId: string): readonly string[];
  has(sessionId: string, name: string): boolean;
  tokens(sessionId: string): number;
  add(sessionId: string, entries: readonly Entry[]): void;
}

export function createLoadedSets(maxSessions: number): LoadedSets {
  const sessions = new Map<string, Map<string, number>>();
  const touch = (sessionId: string): Map<string, number> | undefined => {
    const found = sessions.get(sessionId);
    if (found === undefined) return undefined;
    sessions.delete(sessionId);
    sessions.set(sessionId, found);
    return found;
  };
  return {
    names: (sessionId) => [...(touch(sessionId)?.keys() ?? [])],
    has: (sessionId, name) => touch(sessionId)?.has(name) ?? false,
    tokens: (sessionId) => [...(touch(sessionId)?.values() ?? [])].reduce((sum, tokens) => sum + tokens, 0),
    add(sessionId, entries) {
      const loaded = touch(sessionId) ?? new Map<string, number>();
      sessions.set(sessionId, loaded);
      for (const { tool, tokens } of entries) loaded.set(tool.name, tokens);
      const [oldest] = sessions.keys();
      if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest);
    },
  };
}
