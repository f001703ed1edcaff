import type { ContextInit } from "@toolhaft/core";

const mostContexts = 1_000;

/** Contexts of dispatching calls, kept until their task ends for the tools that its subagent calls in this process. */
export class Contexts {
  readonly #contexts = new Map<string, ContextInit>();

  keep(taskId: string, context: ContextInit): void {
    this.#contexts.set(taskId, context);
    const [oldest] = this.#contexts.keys();
    if (this.#contexts.size > mostContexts && oldest !== undefined) this.#contexts.delete(oldest);
  }

  of(taskId: string): ContextInit {
    return this.#contexts.get(taskId) ?? {};
  }

  forget(taskId: string): void {
    this.#contexts.delete(taskId);
  }
}
