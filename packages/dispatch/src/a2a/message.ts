import { randomUUID } from "node:crypto";
import type { Message, Part } from "@a2a-js/sdk";
import type { RunRequest } from "../runner.ts";
import type { Connection } from "./connect.ts";

/** Where a conversation with an agent stands: its context, and the last task in it. */
export interface Session {
  contextId: string;
  taskId: string;
}

/** One word of two ids, whatever characters the server put into them. */
export function sessionName({ contextId, taskId }: Session): string {
  return `a2a:${encodeURIComponent(contextId)}:${encodeURIComponent(taskId)}`;
}

export function parseSession(name: string): Session | undefined {
  const [scheme, contextId, taskId] = name.split(":");
  if (scheme !== "a2a" || contextId === undefined || taskId === undefined) return undefined;
  return { contextId: decodeURIComponent(contextId), taskId: decodeURIComponent(taskId) };
}

/**
 * What is sent: into the task that waits for an answer, where there is one; else a new task in the same context, for one
 * that has ended takes no more messages.
 */
export async function messageFor(
  { sdk, find }: Connection,
  { prompt }: RunRequest,
  known: Session | undefined,
  signal: AbortSignal,
): Promise<Message> {
  const message: Message = {
    messageId: randomUUID(),
    contextId: known?.contextId ?? "",
    taskId: "",
    role: sdk.Role.ROLE_USER,
    parts: [{ content: { $case: "text", value: prompt }, metadata: undefined, filename: "", mediaType: "text/plain" }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  if (known === undefined || known.taskId === "") return message;
  const task = await find(known.taskId, signal);
  const state = task?.status?.state;
  if (state === sdk.TaskState.TASK_STATE_INPUT_REQUIRED || state === sdk.TaskState.TASK_STATE_AUTH_REQUIRED)
    return { ...message, taskId: known.taskId };
  return task === undefined ? message : { ...message, referenceTaskIds: [known.taskId] };
}

/** The words of parts; data is told as JSON, files by name. */
export function textOf(parts: readonly Part[] | undefined): string {
  return (parts ?? []).map(partText).join("");
}

function partText({ content, filename, mediaType }: Part): string {
  switch (content?.$case) {
    case "text":
      return content.value;
    case "data":
      return JSON.stringify(content.value) ?? "";
    case "url":
      return content.value;
    case "raw":
      return `[${[filename || "file", mediaType, `${content.value.length} bytes`].filter(Boolean).join(", ")}]`;
    default:
      return "";
  }
}
