import { context as otelContext, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type AnyTool, resultCap, toolset } from "../src/index.ts";
import { type TracingOptions, tracing } from "../src/otel.ts";
import { defaults, echo, fails } from "./fixture-tools.ts";
import { probe } from "./tools.ts";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer("test");
const manager = new AsyncLocalStorageContextManager();

beforeAll(() => void otelContext.setGlobalContextManager(manager.enable()));
afterAll(() => otelContext.disable());
beforeEach(() => exporter.reset());

async function traced(tool: AnyTool, input: unknown, options: TracingOptions = {}) {
  const [wrapped] = toolset(tool).wrap(tracing({ tracer, ...options })).tools;
  await wrapped?.call(input, { directory: "/w", callId: "c", sessionId: "s", agent: "a" });
  const [span] = exporter.getFinishedSpans().slice(-1);
  if (span === undefined) throw new Error("no span");
  return span;
}

describe("tracing", () => {
  it("is one internal span with the conventions' attributes, and no arguments", async () => {
    const span = await traced(echo as AnyTool, { text: "hunter2" });
    expect(span.name).toBe("execute_tool echo");
    expect(span.kind).toBe(SpanKind.INTERNAL);
    expect(span.attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "echo",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.description": echo.description,
      "gen_ai.tool.call.id": "c",
      "gen_ai.conversation.id": "s",
      "gen_ai.agent.name": "a",
      "toolhaft.input.repaired": [],
      "toolhaft.text.cut": false,
    });
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
    expect(exporter.getFinishedSpans()).toHaveLength(1);
  });
  it("a failure has status ERROR and its code, and no message", async () => {
    const span = await traced(fails as AnyTool, {});
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(span.attributes["error.type"]).toBe("not_found");
  });
  it("input-1: names what was repaired", async () => {
    expect(
      (await traced(defaults as AnyTool, { owner: "a", ttl_secs: "60" })).attributes["toolhaft.input.repaired"],
    ).toEqual(["ttl_secs"]);
  });
  it("tells a cut text, by the tool's limit and by resultCap inside", async () => {
    const long = probe(() => ({ value: 1 }), { render: () => "x".repeat(40_000) });
    expect((await traced(long, {})).attributes["toolhaft.text.cut"]).toBe(true);
    const [capped] = toolset(probe(() => ({ value: 1 }), { render: () => "x".repeat(5_000) })).wrap(
      resultCap({ maxTextChars: 1_000 }),
    ).tools;
    expect((await traced(capped as AnyTool, {})).attributes["toolhaft.text.cut"]).toBe(true);
  });
  it("records arguments and results only when asked, cut at 8 KiB between code points", async () => {
    const big = "é".repeat(10_000);
    const span = await traced(echo as AnyTool, { text: big }, { recordInput: true, recordOutput: true });
    for (const key of ["gen_ai.tool.call.arguments", "gen_ai.tool.call.result"]) {
      const value = String(span.attributes[key]);
      expect(Buffer.byteLength(value)).toBeGreaterThan(8_000);
      expect(Buffer.byteLength(value)).toBeLessThanOrEqual(8_192);
      expect(value).toMatch(/^\{"text":"é+$/);
    }
  });
  it("is the active span while the tool runs, and a child of the one around it", async () => {
    const inner = probe(
      () => ({
        value: tracer.startActiveSpan("http", (span) => {
          span.end();
          return 1;
        }),
      }),
      {
        output: z.object({ value: z.number() }),
      },
    );
    await tracer.startActiveSpan("agent", async (span) => {
      await traced(inner, {});
      span.end();
    });
    const byName = new Map(exporter.getFinishedSpans().map((span) => [span.name, span]));
    const id = (name: string) => byName.get(name)?.spanContext().spanId;
    expect(byName.get("http")?.parentSpanContext?.spanId).toBe(id("execute_tool probe"));
    expect(byName.get("execute_tool probe")?.parentSpanContext?.spanId).toBe(id("agent"));
  });
  it("takes the registered provider where no tracer is given", async () => {
    trace.setGlobalTracerProvider(provider);
    const [wrapped] = toolset(echo).wrap(tracing()).tools;
    await wrapped?.call({ text: "a" });
    trace.disable();
    expect(
      exporter.getFinishedSpans().map(({ name, instrumentationScope }) => [name, instrumentationScope.name]),
    ).toEqual([["execute_tool echo", "@toolhaft/core"]]);
  });
});
