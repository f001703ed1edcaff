import type { Context, Span, Tracer } from "@opentelemetry/api";
import type { Run } from "./engine/run.ts";

type Api = typeof import("@opentelemetry/api");

/** Launching calls whose span is still to be the parent of their attempts. */
const mostParents = 1_000;

/** A span `invoke_agent <name>` around each attempt, child of the span that launched it. Nothing without the API. */
export class Tracing {
  readonly #tracer: Tracer | undefined;
  readonly #parents = new Map<string, Context>();
  #api: Api | undefined;
  #loading: Promise<void> | undefined;

  constructor(tracer: Tracer | undefined) {
    this.#tracer = tracer;
  }

  load(): Promise<void> {
    this.#loading ??= import("@opentelemetry/api").then(
      (api) => {
        this.#api = api;
      },
      (error: unknown) => {
        // An optional peer; anything but its absence is a fault.
        if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
      },
    );
    return this.#loading;
  }

  /** Called while the launching call's span is active. */
  remember(taskId: string): void {
    if (this.#api === undefined) return;
    this.#parents.set(taskId, this.#api.context.active());
    const [oldest] = this.#parents.keys();
    if (this.#parents.size > mostParents && oldest !== undefined) this.#parents.delete(oldest);
  }

  around(run: Run, work: () => Promise<void>): Promise<void> {
    const api = this.#api;
    if (api === undefined) return work();
    const tracer = this.#tracer ?? api.trace.getTracer("@toolhaft/dispatch");
    const parent = this.#parents.get(run.taskId) ?? api.context.active();
    const { agent, task } = run;
    const span: Span = tracer.startSpan(
      `invoke_agent ${agent.name}`,
      {
        kind: api.SpanKind.INTERNAL,
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": agent.name,
          "gen_ai.conversation.id": task.rootSession,
          "toolhaft.task.attempt": run.attempt,
          ...(agent.runner.model !== undefined && { "gen_ai.request.model": agent.runner.model }),
        },
      },
      parent,
    );
    return api.context.with(api.trace.setSpan(parent, span), work).finally(() => {
      if (run.stopped !== undefined) {
        span.setAttribute("error.type", run.stopped.kind);
        span.setStatus({ code: api.SpanStatusCode.ERROR });
      }
      span.end();
      this.#parents.delete(run.taskId);
    });
  }
}
