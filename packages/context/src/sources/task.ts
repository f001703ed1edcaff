import type { ContextSource } from "../source.ts";
import { findEach, queriesOf } from "./union.ts";

/** What is needed of a store of tasks: that of `@toolhaft/tasks` has it. */
export interface TaskSearch {
  /** Every word of `text` must occur. */
  find(query: { text: string; sort: "relevance"; limit: number }): Promise<{ items: readonly TaskFound[] }>;
}

export interface TaskFound {
  id: string;
  title: string;
  body: string;
  status: string;
  result: { head: string } | null;
  /** ISO 8601. */
  createdAt: string;
  endedAt: string | null;
}

export interface TaskSourceOptions {
  weight?: number;
}

/** Tasks by title, body and result; each word of the topic is searched, so that one task need not hold them all. */
export function taskSource(tasks: TaskSearch, options: TaskSourceOptions = {}): ContextSource {
  const { weight } = options;
  return {
    name: "task",
    ...(weight !== undefined && { weight }),
    async search({ terms, limit }) {
      const found = await findEach(
        queriesOf(terms),
        ({ id }: TaskFound) => id,
        async (text) => (await tasks.find({ text, sort: "relevance", limit })).items,
      );
      return found.slice(0, limit).map(({ item: { id, title, body, status, result, createdAt, endedAt }, score }) => ({
        ref: id,
        title: `${title} (${status})`,
        text: [body, result?.head ?? ""].filter((part) => part.trim() !== "").join("\n") || title,
        score,
        at: Date.parse(endedAt ?? createdAt),
        follow: { tool: "task_export", input: { task_id: id } },
      }));
    },
  };
}
