import type { SessionStore } from "./store.ts";

/** Ids among these that more than one store holds: alone they name no session. */
export async function ambiguousIds(
  stores: readonly SessionStore[],
  sessions: readonly { source: string; id: string }[],
  signal: AbortSignal,
): Promise<string[]> {
  const holders = new Map<string, Set<string>>();
  for (const { source, id } of sessions) holders.set(id, (holders.get(id) ?? new Set()).add(source));
  for (const { source, reader } of stores) {
    for (const id of (await reader.known?.([...holders.keys()], signal)) ?? []) holders.get(id)?.add(source);
  }
  return [...holders].flatMap(([id, sources]) => (sources.size > 1 ? [id] : []));
}

/** The id as a call takes it. */
export function shownId(source: string, id: string, ambiguous: readonly string[]): string {
  return ambiguous.includes(id) ? `${source}:${id}` : id;
}
