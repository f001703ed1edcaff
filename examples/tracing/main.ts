// See what an agent's tools did, with OpenTelemetry: npx tsx examples/tracing/main.ts
import { context, SpanStatusCode } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { toolset } from "@toolhaft/core";
import { tracing } from "@toolhaft/core/otel";
import { createHashline } from "@toolhaft/hashline";

/** Spans are kept in memory here; with an OTLP exporter in its place they go to your collector. */
const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

/** Reads two files within one step of an agent, and tells what was traced. */
export async function traced(filePaths: readonly string[], directory = process.cwd()): Promise<string[]> {
  await using hashline = createHashline();
  const tracer = provider.getTracer("my-agent");
  const tools = toolset(hashline).wrap(tracing({ tracer }));
  await tracer.startActiveSpan("step 1", async (step) => {
    for (const filePath of filePaths) await tools.get("hashline_read")?.call({ filePath }, { directory });
    step.end();
  });
  const spans = exporter.getFinishedSpans();
  const nameOf = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  return spans.map(({ name, parentSpanContext, status, attributes }) => {
    const parent = nameOf.get(parentSpanContext?.spanId ?? "");
    const outcome = status.code === SpanStatusCode.ERROR ? `failed: ${attributes["error.type"]}` : "ok";
    return `${parent === undefined ? "" : `${parent} > `}${name}: ${outcome}`;
  });
}

if (process.argv[1] === import.meta.filename) {
  for (const line of await traced(["README.md", "no-such-file"])) console.log(line);
}
