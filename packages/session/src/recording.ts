import { createHash } from "node:crypto";
import { type Clock, createId, ToolError } from "@toolhaft/core";
import type { Message, MessageKind } from "./model.ts";
import type { NewMessage, NewSession, SessionReader } from "./store.ts";

/** What every store that sessions are recorded into does alike: ids, titles, equality, the order of appends, fork points. */

const titleLength = 80;

/** The session's id, made where none is given; it may become part of a path or a command. */
export function sessionIdOf(session: NewSession, clock: Clock): string {
  const id = session.id ?? createId(clock.now());
  if (!/^[\w.:-]{1,200}$/.test(id)) {
    throw new ToolError("invalid_input", "a session id holds letters, digits and . _ : - only, 200 at the most");
  }
  return id;
}

/** Equal for messages that say the same; times, models and usage may differ between two tellings. */
export function contentHash(message: NewMessage): string {
  return createHash("sha256")
    .update(JSON.stringify([message.role, message.kind ?? null, message.parts]))
    .digest("hex");
}

export function messageKindOf({ kind, role }: NewMessage): MessageKind {
  return kind ?? (role === "user" ? "prompt" : role === "assistant" ? "answer" : "injected");
}

/** Under one id another content is a conflict. */
export function otherContent(id: string): ToolError {
  return new ToolError("conflict", `message ${id} is recorded with other content`, {
    hint: "give each message an id of its own",
    retryable: false,
  });
}

export function unknownMessage(): ToolError {
  return new ToolError("not_found", "file(): the message is not recorded yet", { hint: "append the message first" });
}

/** The title of a session that was given none, by its first prompt. */
export function titleFrom(message: NewMessage): string {
  const text = message.parts.find((part) => part.kind === "text");
  const line = text?.kind === "text" ? text.text.replace(/\s+/g, " ").trim() : "";
  const points = [...line];
  return points.length > titleLength ? `${points.slice(0, titleLength - 1).join("")}…` : line;
}

/**
 * Runs appends one after another, so that the order of calls is the order of messages. Hosts swallow what callbacks
 * throw: the first failure is kept and comes out of `flush`.
 */
export class AppendQueue {
  #failure: unknown;
  #last: Promise<void> = Promise.resolve();

  run(work: () => Promise<void>): Promise<void> {
    const done = this.#last.catch(() => undefined).then(work);
    this.#last = done.catch((error: unknown) => {
      this.#failure ??= error;
      throw error;
    });
    this.#last.catch(() => undefined);
    return this.#last;
  }

  /** Resolves when nothing runs, failed or not. */
  async settled(): Promise<void> {
    await this.#last.catch(() => undefined);
  }

  /** @throws the first failure of any append */
  async flush(): Promise<void> {
    await this.settled();
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/**
 * The message a session is forked at: a message id, `#n`, or the last.
 *
 * @throws not_found, or conflict where calls of that message have no results
 */
export async function forkPointOf(
  reader: SessionReader,
  id: string,
  at: string | undefined,
  signal: AbortSignal,
): Promise<Message> {
  const count = await reader.count(id, signal);
  const wanted = at ?? (count === 0 ? undefined : `#${count - 1}`);
  const point = wanted === undefined ? undefined : await reader.message(id, wanted, signal);
  if (point === undefined) {
    throw new ToolError(
      "not_found",
      at === undefined ? "the session has no message to fork at" : "this session has no such message",
      { hint: `it has ${count} messages${count === 0 ? "" : `: #0 to #${count - 1}`}` },
    );
  }
  if (point.parts.some(({ tool }) => tool !== null && (tool.status === "no_result" || tool.status === "running"))) {
    throw new ToolError("conflict", `#${point.index} has tool calls without results`, {
      hint: point.index === 0 ? "wait for the results" : `fork at #${point.index - 1}`,
      retryable: false,
    });
  }
  return point;
}

const longestPauseMs = 5 * 60_000;

/** Time between messages, of each pause five minutes at the most; `times` are sorted. */
export function activeMsOf(times: readonly number[]): number {
  let sum = 0;
  let last: number | undefined;
  for (const at of times) {
    if (last !== undefined) sum += Math.min(longestPauseMs, Math.max(0, at - last));
    last = at;
  }
  return sum;
}
