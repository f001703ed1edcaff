import { createHash } from "node:crypto";
import type { CallResult, Content } from "../facts.ts";
import type { JsonRecord } from "../json-line.ts";
import { blocksText, finite, nonEmpty, object, objects, text } from "../shapes.ts";

/** Content of a `response_item`; calls too, their outcomes apart. */
export function itemContent(item: JsonRecord): Content[] {
  switch (item.type) {
    case "message":
      return objects(item.content).flatMap(messagePart);
    case "reasoning": {
      const said = [...objects(item.summary), ...objects(item.content)].map((part) => text(part.text) ?? "");
      const joined = said.filter((part) => part !== "").join("\n");
      return joined === "" ? [] : [{ kind: "thinking", text: joined }];
    }
    case "function_call":
    case "custom_tool_call":
      return [
        call(item, text(item.arguments) ?? text(item.input) ?? JSON.stringify(item.arguments ?? item.input ?? {})),
      ];
    case "local_shell_call":
      return [call({ ...item, name: "local_shell" }, JSON.stringify(item.action ?? {}))];
    case "web_search_call":
      return [call({ ...item, name: "web_search" }, JSON.stringify(item.action ?? {}))];
    case "tool_search_call":
      return [call({ ...item, name: "tool_search" }, JSON.stringify(item.arguments ?? {}))];
    case "image_generation_call":
      return [call({ ...item, name: "image_generation" }, JSON.stringify({ prompt: item.revised_prompt ?? null }))];
    default:
      return [];
  }
}

function messagePart(part: JsonRecord): Content[] {
  if (part.type === "input_image" || part.type === "input_file") {
    const url = text(part.image_url) ?? text(part.file_data) ?? "";
    const [, mime = part.type === "input_image" ? "image/*" : "application/octet-stream", data] =
      /^data:([^;,]+)[^,]*,(.*)$/s.exec(url) ?? [];
    return [
      {
        kind: "file",
        name: nonEmpty(part.filename) ?? null,
        mime,
        bytes: data === undefined ? 0 : Math.floor((data.replace(/=+$/, "").length * 3) / 4),
      },
    ];
  }
  const said = text(part.text);
  return said === undefined
    ? [{ kind: "other", text: `[${String(part.type ?? "part")}]` }]
    : [{ kind: "text", text: said }];
}

function call(item: JsonRecord, input: string): Content {
  return {
    kind: "call",
    name: nonEmpty(item.name) ?? "unknown",
    callId: callIdOf(item),
    input,
  };
}

/** The outcome of a call that the provider made: it stands in the call itself, for no output follows. */
export function ownResult(item: JsonRecord): CallResult[] {
  if (item.type !== "web_search_call" && item.type !== "image_generation_call") return [];
  const status = nonEmpty(item.status);
  if (status === undefined || status === "in_progress" || status === "searching") return [];
  return [{ callId: callIdOf(item), status: status === "failed" ? "error" : "completed", output: "", rank: 0 }];
}

/** Searches may have no id: what they asked for tells them apart. */
function callIdOf(item: JsonRecord): string {
  const id = nonEmpty(item.call_id) ?? nonEmpty(item.id);
  if (id !== undefined || item.type !== "web_search_call") return id ?? "";
  return `web_search ${createHash("sha256")
    .update(JSON.stringify(item.action ?? {}))
    .digest("hex")
    .slice(0, 16)}`;
}

/** Output of a call as a `response_item` gives it: a string, JSON in a string, an object or blocks. */
export function itemResult(item: JsonRecord): CallResult[] {
  const callId = nonEmpty(item.call_id);
  if (callId === undefined) return [];
  const structured = unwrapped(item.output);
  const output = structured.output;
  const exitCode = structured.exitCode ?? exitCodeIn(output);
  const failed = structured.success === false || (exitCode !== undefined && exitCode !== 0);
  return [
    {
      callId,
      status: deniedText(output) ? "denied" : failed ? "error" : "completed",
      output,
      rank: 1,
      ...(exitCode !== undefined && { exitCode }),
      ...(structured.durationMs !== undefined && { durationMs: structured.durationMs }),
    },
  ];
}

interface Unwrapped {
  output: string;
  exitCode?: number;
  durationMs?: number;
  success?: boolean;
}

function unwrapped(value: unknown): Unwrapped {
  const inner = typeof value === "string" && value.startsWith("{") ? parsedObject(value) : object(value);
  if (inner === undefined || (inner.output === undefined && inner.content === undefined)) {
    return { output: blocksText(value) };
  }
  const metadata = object(inner.metadata);
  const exitCode = finite(metadata?.exit_code);
  const seconds = finite(metadata?.duration_seconds);
  return {
    output: blocksText(inner.output ?? inner.content),
    ...(exitCode !== undefined && { exitCode }),
    ...(seconds !== undefined && { durationMs: Math.round(seconds * 1000) }),
    ...(typeof inner.success === "boolean" && { success: inner.success }),
  };
}

function parsedObject(json: string): JsonRecord | undefined {
  try {
    return object(JSON.parse(json));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function exitCodeIn(output: string): number | undefined {
  const found = /^(?:Exit code: |Process exited with code )(-?\d+)$/m.exec(output.slice(0, 400))?.[1];
  return found === undefined ? undefined : Number(found);
}

function deniedText(output: string): boolean {
  return /^(?:exec command rejected by user|patch rejected by user|rejected by user)/i.test(output);
}

/** Events that tell a call's outcome in more detail than the item the model read. */
export function eventResult(event: JsonRecord): CallResult[] {
  const callId = nonEmpty(event.call_id);
  if (callId === undefined) return [];
  switch (event.type) {
    case "exec_command_end": {
      const exitCode = finite(event.exit_code);
      const output =
        nonEmpty(event.aggregated_output) ??
        nonEmpty(event.formatted_output) ??
        [text(event.stdout) ?? "", text(event.stderr) ?? ""].filter((part) => part !== "").join("\n");
      const declined = event.status === "declined";
      const failed = exitCode !== undefined && exitCode !== 0;
      return [
        {
          callId,
          status: declined ? "denied" : failed ? "error" : "completed",
          output,
          rank: 2,
          ...(exitCode !== undefined && { exitCode }),
          ...durationOf(event.duration),
        },
      ];
    }
    case "mcp_tool_call_end": {
      const result = object(event.result);
      const ok = object(result?.Ok) ?? object(result?.ok);
      const failure = result?.Err ?? result?.err;
      const failed = ok === undefined ? failure !== undefined : ok.isError === true || ok.is_error === true;
      const output = ok === undefined ? blocksText(failure ?? event.result) : blocksText(ok.content ?? ok);
      return [{ callId, status: failed ? "error" : "completed", output, rank: 2, ...durationOf(event.duration) }];
    }
    case "patch_apply_end": {
      const output = [text(event.stdout) ?? "", text(event.stderr) ?? ""].filter((part) => part !== "").join("\n");
      const status = event.status === "declined" ? "denied" : event.success === false ? "error" : "completed";
      return [{ callId, status, output, rank: 2 }];
    }
    default:
      return [];
  }
}

function durationOf(duration: unknown): { durationMs: number } | Record<string, never> {
  const parts = object(duration);
  const seconds = finite(parts?.secs);
  if (seconds === undefined) return {};
  return { durationMs: Math.round(seconds * 1000 + (finite(parts?.nanos) ?? 0) / 1e6) };
}
