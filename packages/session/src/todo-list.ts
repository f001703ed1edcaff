import type { JsonRecord } from "./json-line.ts";
import type { Todo } from "./model.ts";
import { nonEmpty, objects } from "./shapes.ts";

const statuses: Readonly<Record<string, Todo["status"]>> = {
  pending: "pending",
  todo: "pending",
  open: "pending",
  in_progress: "in_progress",
  "in-progress": "in_progress",
  inProgress: "in_progress",
  completed: "completed",
  done: "completed",
  cancelled: "cancelled",
  canceled: "cancelled",
  deleted: "cancelled",
};

/** A host's word for the state of a todo. */
export function todoStatus(value: unknown): Todo["status"] | undefined {
  return typeof value === "string" && Object.hasOwn(statuses, value) ? statuses[value] : undefined;
}

/** Todos of a list whose elements name their text in one of `fields`; elements of another shape are left out. */
export function todosOf(value: unknown, fields: readonly string[]): Todo[] {
  return objects(value).flatMap((item) => todoOf(item, fields) ?? []);
}

export function todoOf(item: JsonRecord, fields: readonly string[]): Todo | undefined {
  const text = fields.map((field) => nonEmpty(item[field])).find((found) => found !== undefined);
  const status = item.status === undefined ? "pending" : todoStatus(item.status);
  if (text === undefined || status === undefined) return undefined;
  return { text, status, priority: nonEmpty(item.priority) ?? null };
}
