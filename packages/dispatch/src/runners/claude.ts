import { createId } from "@toolhaft/core";
import type { SubagentRunner } from "../runner.ts";
import { type Preset, type PresetOptions, presetRunner } from "./preset.ts";
import { type AgentProtocol, amount, count, eventOf, fields, list, messageIn, text, usageOf } from "./protocol.ts";

const modes = { "read-only": "plan", edit: "acceptEdits", full: "bypassPermissions" } as const;

const protocol: AgentProtocol = (_request, report) => ({
  line(line) {
    const event = eventOf(line);
    const session = text(event?.session_id);
    switch (event?.type) {
      case "system":
        if (session !== undefined) report.session(session);
        return true;
      case "assistant":
        for (const part of list(fields(event.message)?.content)) {
          if (part.type === "text") report.text(`${text(part.text) ?? ""}\n`);
          if (part.type === "tool_use") report.tool(text(part.name) ?? "tool");
        }
        return true;
      case "user":
        return true;
      case "result": {
        if (session !== undefined) report.session(session);
        const usage = fields(event.usage);
        if (usage !== undefined)
          report.usage(
            `result ${createId()}`,
            usageOf({
              input: count(usage.input_tokens),
              output: count(usage.output_tokens),
              cacheRead: count(usage.cache_read_input_tokens),
              cacheWrite: count(usage.cache_creation_input_tokens),
              costUsd: amount(event.total_cost_usd),
            }),
          );
        if (event.is_error === true || (text(event.subtype) ?? "success") !== "success")
          report.failed(text(event.result) ?? text(event.subtype) ?? messageIn(event));
        else report.answer(text(event.result) ?? "");
        return true;
      }
      default:
        return false;
    }
  },
});

const preset: Preset = {
  name: "claude",
  install: "npm install -g @anthropic-ai/claude-code",
  variables: [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
  ],
  usage: "cost",
  args: ({ session }, { access, model }) => [
    "-p",
    "--output-format",
    "stream-json",
    "--verbose",
    "--permission-mode",
    modes[access],
    ...(model === undefined ? [] : ["--model", model]),
    ...(session === null ? [] : ["--resume", session]),
  ],
  protocol,
};

/** Claude Code as a subagent. */
export function claude(options: PresetOptions = {}): SubagentRunner {
  return presetRunner(preset, options);
}
