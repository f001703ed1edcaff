import type { Task } from "./model.ts";

/** A task as tools give it: without its long texts. */
export type TaskRow = Omit<Task, "body" | "metadata" | "result"> & {
  /** What a pending task waits for. */
  stage: "blocked" | "queued" | "starting" | null;
  /** Code points of the stored result. */
  resultChars: number | null;
  resultPreview?: string | undefined;
};

/** The row of a task. */
export function taskRow(task: Task, resultPreview?: string): TaskRow {
  const { body: _body, metadata: _metadata, result, ...rest } = task;
  const { state } = task;
  return {
    ...rest,
    stage: state === "blocked" || state === "queued" || state === "starting" ? state : null,
    resultChars: result?.chars ?? null,
    ...(resultPreview !== undefined && { resultPreview }),
  };
}
