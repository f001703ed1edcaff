import { randomUUID } from "node:crypto";
import { createId } from "@toolhaft/core";
import type { SubagentRunner } from "../runner.ts";
import { type Preset, type PresetOptions, presetRunner } from "./preset.ts";
import { type AgentProtocol, count, eventOf, fields, messageIn, text, usageOf } from "./protocol.ts";

const modes = { "read-only": "plan", edit: "auto_edit", full: "yolo" } as const;

const protocol: AgentProtocol = (_request, report) => {
  const words: string[] = [];
  return {
    line(line) {
      const event = eventOf(line);
      switch (event?.type) {
        case "init": {
          const session = text(event.session_id);
          if (session !== undefined) report.session(session);
          return true;
        }
        case "message":
          if (event.role === "assistant") {
            const content = text(event.content) ?? "";
            words.push(content);
            report.text(content);
          }
          return true;
        case "tool_use":
          // Words before a tool are on the way to the answer, not part of it.
          words.length = 0;
          report.tool(text(event.tool_name) ?? "tool");
          return true;
        case "tool_result":
          report.tool("result");
          return true;
        case "error":
          report.status(messageIn(event));
          return true;
        case "result": {
          const stats = fields(event.stats);
          if (stats !== undefined) report.usage(`result ${createId()}`, statsOf(stats));
          if (event.status === "success") report.answer(words.join(""));
          else report.failed(messageIn(event.error ?? event.status ?? event));
          return true;
        }
        default:
          return false;
      }
    },
  };
};

function statsOf(stats: Readonly<Record<string, unknown>>) {
  const cached = count(stats.cached);
  const input = count(stats.input_tokens);
  const output = count(stats.output_tokens);
  // Thoughts stand in the total only.
  const thoughts = Math.max(0, count(stats.total_tokens) - input - output);
  return usageOf({
    input: Math.max(0, input - cached),
    output: output + thoughts,
    reasoning: thoughts,
    cacheRead: cached,
  });
}

const preset: Preset = {
  name: "gemini",
  install: "npm install -g @google/gemini-cli",
  variables: [
    "GEMINI_API_KEY",
    "GEMINI_CLI_HOME",
    "GOOGLE_API_KEY",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_GENAI_USE_VERTEXAI",
  ],
  usage: "tokens",
  args: ({ session }, { access, model, trustDirectory }) => [
    "-o",
    "stream-json",
    ...(session === null ? ["--session-id", randomUUID()] : ["--resume", session]),
    "--approval-mode",
    modes[access],
    ...(model === undefined ? [] : ["-m", model]),
    ...(trustDirectory === true ? ["--skip-trust"] : []),
  ],
  protocol,
  exitCodes: { 42: "bad input", 53: "turn limit reached" },
};

/** Gemini CLI as a subagent. */
export function gemini(options: PresetOptions = {}): SubagentRunner {
  return presetRunner(preset, options);
}
