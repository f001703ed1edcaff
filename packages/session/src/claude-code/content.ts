import type { CallResult, Content } from "../facts.ts";
import type { JsonRecord } from "../json-line.ts";
import { blocksText, list, nonEmpty, object, objects, text } from "../shapes.ts";

const rejections = [
  "The user doesn't want to proceed with this tool use",
  "The user doesn't want to take this action",
  "The agent proposed a plan that was rejected by the user",
];

/** Content blocks of one line's `message.content`, results of tool calls apart. */
export function contentOf(content: unknown): Content[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  return objects(content).flatMap((block): Content[] => {
    switch (block.type) {
      case "text":
        return [{ kind: "text", text: text(block.text) ?? "" }];
      case "thinking":
        return [{ kind: "thinking", text: text(block.thinking) ?? "" }];
      case "redacted_thinking":
        return [{ kind: "other", text: "[redacted thinking]" }];
      case "tool_use":
      case "server_tool_use":
      case "mcp_tool_use":
        return [
          {
            kind: "call",
            name: nonEmpty(block.name) ?? "unknown",
            callId: nonEmpty(block.id) ?? "",
            input: JSON.stringify(block.input ?? {}),
          },
        ];
      case "image":
      case "document":
        return [fileOf(block)];
      default:
        if (isResult(block)) return [];
        return [{ kind: "other", text: `[${text(block.type) ?? "block"}]` }];
    }
  });
}

function fileOf(block: JsonRecord): Content {
  const source = object(block.source);
  const data = text(source?.data);
  return {
    kind: "file",
    name: nonEmpty(block.title) ?? null,
    mime: nonEmpty(source?.media_type) ?? (block.type === "image" ? "image/*" : "application/octet-stream"),
    bytes: data === undefined ? 0 : Math.floor((data.replace(/=+$/, "").length * 3) / 4),
  };
}

/** Results of tools that ran at the provider stand in the answer itself, under types of their own. */
function isResult(block: JsonRecord): boolean {
  return block.type === "tool_result" || (text(block.type)?.endsWith("_tool_result") ?? false);
}

/** Results of tool calls in one line. */
export function resultsOf(line: JsonRecord): CallResult[] {
  const blocks = objects(object(line.message)?.content);
  return blocks.filter(isResult).flatMap((block): CallResult[] => {
    const callId = nonEmpty(block.tool_use_id);
    if (callId === undefined) return [];
    const output = blocksText(block.content);
    return [{ callId, status: statusOf(line, block, output), output, rank: 1, ...measuresOf(line, blocks) }];
  });
}

function statusOf(line: JsonRecord, block: JsonRecord, output: string): CallResult["status"] {
  if (nonEmpty(line.toolDenialKind) !== undefined || nonEmpty(block.toolDenialKind) !== undefined) return "denied";
  const failed = block.is_error === true || (text(object(block.content)?.type)?.endsWith("_error") ?? false);
  if (failed && rejections.some((rejection) => output.startsWith(rejection))) return "denied";
  if (failed && text(line.toolUseResult) === "User rejected tool use") return "denied";
  return failed ? "error" : "completed";
}

/** `toolUseResult` speaks of one call: it is left out when the line holds several results. */
function measuresOf(line: JsonRecord, blocks: readonly JsonRecord[]): Pick<CallResult, "durationMs" | "exitCode"> {
  const result = object(line.toolUseResult);
  if (result === undefined || blocks.filter((block) => block.type === "tool_result").length !== 1) return {};
  const duration = result.totalDurationMs ?? result.durationMs;
  const exitCode = result.exitCode ?? result.code;
  return {
    ...(typeof duration === "number" && { durationMs: duration }),
    ...(typeof exitCode === "number" && { exitCode }),
  };
}

/** Whether a user line holds anything besides results. */
export function hasResults(line: JsonRecord): boolean {
  return list(object(line.message)?.content).some((block) => isResult(object(block) ?? {}));
}
