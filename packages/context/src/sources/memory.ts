import type { ContextSource } from "../source.ts";

/** What is needed of a memory: `createMemory()` of `@toolhaft/memory` has it. */
export interface MemorySearch {
  search(
    caller: { workspace: string; agent: string },
    query: { query: string; limit?: number; full?: boolean },
    signal?: AbortSignal,
  ): Promise<{ hits: readonly MemoryHit[] }>;
}

export interface MemoryHit {
  id: string;
  title: string;
  /** The content, or the part of it that was found. */
  excerpt: string;
  score: number;
  /** ISO 8601. */
  updatedAt: string;
  tags?: readonly string[];
  about?: readonly string[];
}

export interface MemorySourceOptions {
  /** As the memory was written with. @default "." */
  workspace?: string;
  /** Whose memories. @default the agent of the call */
  agent?: string;
  weight?: number;
}

/** Memories of the calling agent and of the workspace. No use of a memory is counted. */
export function memorySource(memory: MemorySearch, options: MemorySourceOptions = {}): ContextSource {
  const { workspace = ".", agent, weight } = options;
  return {
    name: "memory",
    ...(weight !== undefined && { weight }),
    async search({ topic, limit, caller }, signal) {
      const { hits } = await memory.search(
        { workspace, agent: agent ?? caller.agent },
        { query: topic, limit, full: true },
        signal,
      );
      return hits.map(({ id, title, excerpt, score, updatedAt, tags = [], about = [] }) => ({
        ref: id,
        title,
        // Tags and subjects are searched too: what was found in them must be seen.
        text: [excerpt, labelled("Tags", tags), labelled("About", about)].filter((line) => line !== "").join("\n"),
        score: Math.max(0, score),
        at: Date.parse(updatedAt),
        follow: { tool: "memory_get", input: { id } },
      }));
    },
  };
}

function labelled(label: string, names: readonly string[]): string {
  return names.length > 0 ? `${label}: ${names.join(", ")}` : "";
}
