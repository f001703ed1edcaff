import { showTime } from "../dates.ts";
import type { Message, Part } from "../model.ts";
import { oneLine } from "../show.ts";

/** A message as a reader sees it: a head with number, role, time, model and cost, then its parts. */
export function messageText(message: Message, timeZone: string): string {
  const marks = [
    message.kind === "prompt" || message.kind === "answer" ? "" : `(${message.kind})`,
    message.at === null ? "" : showTime(message.at, timeZone, true),
    message.model ?? "",
    message.costUsd === null ? "" : `$${message.costUsd.toFixed(4)}`,
    message.branch === "main" ? "" : `on ${message.branch}`,
    message.inherited ? "inherited" : "",
    message.reverted ? "reverted" : "",
  ].filter((mark) => mark !== "");
  const head = `[#${message.index}] ${oneLine(message.role, 40)}${marks.map((mark) => ` ${mark}`).join("")}`;
  return [head, ...message.parts.map(partText)].join("\n");
}

function partText(part: Part): string {
  if (part.tool !== null) return toolText(part);
  if (part.file !== null)
    return `[file] ${oneLine(part.file.name ?? "unnamed")} ${part.file.mime} ${part.file.bytes} bytes`;
  const text = part.text ?? "";
  const rest = part.truncated ? `… [${part.chars.toLocaleString("en-US")} characters in all]` : "";
  return part.kind === "thinking" ? `[thinking] ${text}${rest}` : text + rest;
}

function toolText(part: Part): string {
  const { tool } = part;
  if (tool === null) return "";
  const exit = tool.exitCode === null || tool.exitCode === 0 ? "" : ` (exit ${tool.exitCode})`;
  const cutInput = part.chars > [...tool.input].length ? "…" : "";
  const lines = [
    `[tool] ${oneLine(tool.name, 80)} ${tool.status}${exit} ${tool.input.replace(/\s+/g, " ")}${cutInput}`,
  ];
  if (tool.output !== null) {
    const left = tool.outputChars - [...tool.output].length;
    lines.push(left > 0 ? `${tool.output}… [${left.toLocaleString("en-US")} more characters]` : tool.output);
  }
  return lines.join("\n");
}
