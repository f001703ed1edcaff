import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, expect, it } from "vitest";
import { agent, openDesk } from "./desk.ts";
import { eventually } from "./runs.ts";

beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
afterAll(() => context.disable());

it("spans of attempts nest over two levels below the span of the caller", async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = provider.getTracer("test");
  const desk = await openDesk({
    agents: [
      agent("leaf", () => "leaf"),
      agent(
        "branch",
        async ({ context: inside }) => {
          const tool = desk.dispatch.tools.find(({ name }) => name === "dispatch");
          return (await tool?.call({ subagent: "leaf", prompt: "x", run_in_background: false }, inside))?.text ?? "";
        },
        { dispatches: ["leaf"] },
      ),
    ],
    metrics: { tracer },
  });
  const root = tracer.startSpan("root");
  await context.with(trace.setSpan(context.active(), root), () =>
    desk.call("dispatch", { subagent: "branch", prompt: "x", run_in_background: false }),
  );
  root.end();
  await eventually(() => exporter.getFinishedSpans().length === 3);
  const spans = exporter.getFinishedSpans();
  const named = (name: string) => spans.find((span) => span.name === name);
  expect(named("invoke_agent leaf")?.parentSpanContext?.spanId).toBe(
    named("invoke_agent branch")?.spanContext().spanId,
  );
  expect(named("invoke_agent branch")?.parentSpanContext?.spanId).toBe(root.spanContext().spanId);
  await provider.shutdown();
});
