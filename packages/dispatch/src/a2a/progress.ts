import type { Artifact, Message, StreamResponse, Task, TaskState, TaskStatus } from "@a2a-js/sdk";
import type { RunSink } from "../runner.ts";
import { type Session, sessionName, textOf } from "./message.ts";

/** What is known of a task at another server, from whatever it sent. */
export class Progress {
  readonly #sink: RunSink;
  readonly #artifacts = new Map<string, string>();
  readonly #told = new Set<string>();
  #session: Session | undefined;
  status: TaskStatus | undefined;
  /** An agent may answer with a message and no task at all. */
  answer: string | undefined;

  constructor(sink: RunSink) {
    this.#sink = sink;
  }

  get taskId(): string | undefined {
    return this.#session?.taskId || undefined;
  }

  get state(): TaskState | undefined {
    return this.status?.state;
  }

  /** What is there of the result. */
  get output(): string {
    const artifacts = [...this.#artifacts.values()].filter((text) => text !== "").join("\n");
    return artifacts === "" ? textOf(this.status?.message?.parts) : artifacts;
  }

  async take({ payload }: StreamResponse): Promise<void> {
    switch (payload?.$case) {
      case "task":
        return this.takeTask(payload.value);
      case "message":
        await this.#name({ contextId: payload.value.contextId, taskId: payload.value.taskId });
        this.#say(payload.value);
        this.answer = textOf(payload.value.parts);
        return;
      case "statusUpdate":
        await this.#name(payload.value);
        this.#takeStatus(payload.value.status);
        return;
      case "artifactUpdate": {
        await this.#name(payload.value);
        const { artifact, append } = payload.value;
        if (artifact !== undefined) this.#takeArtifact(artifact, append);
      }
    }
  }

  /** A task as a whole: what it holds counts, whatever was streamed before. */
  async takeTask(task: Task): Promise<void> {
    await this.#name({ contextId: task.contextId, taskId: task.id });
    const before = this.output;
    this.#artifacts.clear();
    for (const artifact of task.artifacts) this.#artifacts.set(artifact.artifactId, textOf(artifact.parts));
    this.#takeStatus(task.status);
    const now = this.output;
    if (now !== before && now !== "") this.#sink.activity({ kind: "text", text: newPart(before, now) });
  }

  async #name(session: Session): Promise<void> {
    if (session.contextId === this.#session?.contextId && session.taskId === this.#session?.taskId) return;
    this.#session = { contextId: session.contextId, taskId: session.taskId };
    await this.#sink.session(sessionName(this.#session), { data: { ...this.#session } });
  }

  #takeStatus(status: TaskStatus | undefined): void {
    if (status === undefined) return;
    const changed = status.state !== this.status?.state;
    this.status = status;
    if (status.message !== undefined) this.#say(status.message);
    // A state without a word is no sign of life: an agent that hangs may repeat it for ever.
    else if (changed) this.#sink.activity({ kind: "status", text: `state ${status.state}` });
  }

  #takeArtifact({ artifactId, parts }: Artifact, append: boolean): void {
    const text = textOf(parts);
    const before = append ? (this.#artifacts.get(artifactId) ?? "") : "";
    this.#artifacts.set(artifactId, before + text);
    if (text !== "") this.#sink.activity({ kind: "text", text });
  }

  #say(message: Message): void {
    if (this.#told.has(message.messageId)) return;
    this.#told.add(message.messageId);
    const text = textOf(message.parts);
    if (text !== "") this.#sink.activity({ kind: "text", text: `${text}\n` });
  }
}

function newPart(before: string, now: string): string {
  return now.startsWith(before) ? now.slice(before.length) : now;
}
