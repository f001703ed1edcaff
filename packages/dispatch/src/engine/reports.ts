import { isToolError } from "@toolhaft/core";
import type { ClaimRef, NewEvent, TaskStore, Usage } from "@toolhaft/tasks";

/** What runs while its entries are written. */
export interface ReportTarget {
  readonly store: TaskStore;
  readonly taskId: string;
  readonly attempt: number;
  ref(): ClaimRef;
  /** The claim is over. */
  lost(): void;
  /** After usage was recorded. */
  counted(): Promise<void>;
}

const activityEveryMs = 250;
const activityChars = 2_000;

/** Entries of a run on their way to the store: in order, and no more than needed. */
export class Reports {
  readonly #target: ReportTarget;
  #chain: Promise<void> = Promise.resolve();
  #entries = 0;
  #activity: { kind: string; text: string; sign: boolean } | undefined;
  #activityTimer: ReturnType<typeof setTimeout> | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;
  readonly #usage = new Map<string, Usage>();
  #usageQueued: Promise<void> | undefined;
  #transcript: string | undefined;
  #transcriptQueued = false;
  #tools = 0;
  #step: NewEvent["step"];

  constructor(target: ReportTarget, step: NewEvent["step"]) {
    this.#target = target;
    this.#step = step;
  }

  /** Does something in order with the entries. A lost claim is told, other failures are for the next entry to try. */
  inOrder(work: () => Promise<void>): Promise<void> {
    this.#chain = this.#chain.then(work).catch((error: unknown) => {
      if (isToolError(error) && error.code === "conflict") this.#target.lost();
    });
    return this.#chain;
  }

  activity(kind: "text" | "tool" | "status", text: string): void {
    if (kind === "tool") this.#tools += 1;
    const sign = kind !== "status" || (this.#activity?.sign ?? false);
    this.#activity = { kind, text, sign };
    if (this.#activityTimer !== undefined) return;
    const wait = this.#writtenAt + activityEveryMs - performance.now();
    if (wait <= 0) this.#writeActivity();
    else {
      this.#activityTimer = setTimeout(() => this.#writeActivity(), wait);
      this.#activityTimer.unref();
    }
  }

  /** Resolves when it is counted. */
  usage(key: string, total: Usage): Promise<void> {
    this.#usage.set(key, total);
    this.#usageQueued ??= this.inOrder(() => this.#writeUsage());
    return this.#usageQueued;
  }

  transcript(text: string): void {
    this.#transcript = text;
    if (this.#transcriptQueued) return;
    this.#transcriptQueued = true;
    void this.inOrder(() => this.#writeTranscript());
  }

  note(data: Record<string, unknown>, more: Partial<NewEvent> = {}): Promise<void> {
    return this.inOrder(() => this.#append({ kind: "activity", data, activity: false, ...more }));
  }

  /** Writes what is left; what an earlier failure kept is tried once more. */
  async flush(): Promise<void> {
    if (this.#activity !== undefined) this.#writeActivity();
    if (this.#usage.size > 0) void this.inOrder(() => this.#writeUsage());
    if (this.#transcript !== undefined) void this.inOrder(() => this.#writeTranscript());
    await this.#chain;
  }

  #writeActivity(): void {
    clearTimeout(this.#activityTimer);
    this.#activityTimer = undefined;
    const entry = this.#activity;
    this.#activity = undefined;
    if (entry === undefined) return;
    this.#writtenAt = performance.now();
    const text = [...entry.text.slice(-activityChars * 2)].slice(-activityChars).join("");
    const data = { kind: entry.kind, text, toolCalls: this.#tools };
    void this.inOrder(() => this.#append({ kind: "activity", data, activity: entry.sign }));
  }

  async #writeUsage(): Promise<void> {
    this.#usageQueued = undefined;
    const { taskId, attempt } = this.#target;
    for (const [key, total] of [...this.#usage]) {
      await this.#append({
        key: `${taskId}:${attempt}:usage:${key}`,
        kind: "usage",
        data: { key, total: { ...total } },
        ...(this.#step !== undefined && { step: this.#step }),
      });
      // One that came meanwhile is written next.
      if (this.#usage.get(key) === total) this.#usage.delete(key);
      else void this.usage(key, this.#usage.get(key) ?? total);
    }
    await this.#target.counted();
  }

  async #writeTranscript(): Promise<void> {
    this.#transcriptQueued = false;
    const text = this.#transcript;
    if (text === undefined) return;
    await this.#append({ kind: "transcript", data: { text } });
    if (this.#transcript === text) this.#transcript = undefined;
    else this.transcript(this.#transcript ?? text);
  }

  async #append(entry: Omit<NewEvent, "key"> & { key?: string }): Promise<void> {
    const { store, taskId, attempt } = this.#target;
    const ref = this.#target.ref();
    this.#entries += 1;
    await store.append(taskId, ref, { key: `${taskId}:${attempt}:${ref.fence}:note:${this.#entries}`, ...entry });
  }
}
