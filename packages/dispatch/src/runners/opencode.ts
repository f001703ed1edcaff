import { createId } from "@toolhaft/core";
import type { SubagentRunner } from "../runner.ts";
import { type Preset, type PresetOptions, presetRunner } from "./preset.ts";
import { type AgentProtocol, count, eventOf, fields, messageIn, text, usageOf } from "./protocol.ts";

/** What the program does with a dead server: one `error`, then nothing for ever. */
const silenceMs = 60_000;

const rules = {
  "read-only": { edit: "deny", bash: "deny", external_directory: "deny" },
  edit: { edit: "allow", bash: "deny", external_directory: "deny" },
  full: { "*": "allow" },
} as const;

/** @param silence How long it may say nothing after an `error`, in milliseconds. */
export function opencodeProtocol(silence: number): AgentProtocol {
  return (_request, report) => {
    const run = createId();
    let step: string[] = [];
    let fault: string | undefined;
    const total = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };
    return {
      line(line) {
        const event = eventOf(line);
        if (event === undefined) return false;
        const session = text(event.sessionID);
        if (session !== undefined) report.session(session);
        const part = fields(event.part);
        if (event.type !== "error") {
          report.endWhenSilent(null, "");
          fault = undefined;
        }
        switch (event.type) {
          case "step_start":
            step = [];
            return true;
          case "text": {
            const words = text(part?.text) ?? "";
            step.push(words);
            report.text(words);
            report.answer(step.join(""));
            return true;
          }
          case "tool_use":
            report.tool(text(part?.tool) ?? "tool");
            return true;
          case "reasoning":
            report.tool("reasoning");
            return true;
          case "step_finish": {
            const tokens = fields(part?.tokens);
            const cache = fields(tokens?.cache);
            total.input += count(tokens?.input);
            // Reasoning stands beside the output there; here it is part of it.
            total.output += count(tokens?.output) + count(tokens?.reasoning);
            total.reasoning += count(tokens?.reasoning);
            total.cacheRead += count(cache?.read);
            total.cacheWrite += count(cache?.write);
            total.costUsd += count(part?.cost);
            report.usage(`steps ${run}`, usageOf(total));
            return true;
          }
          case "error": {
            const message = messageIn(event.error ?? event);
            fault = message;
            report.status(message);
            report.endWhenSilent(silence, `${message}; nothing followed for ${silence / 1_000} s`);
            return true;
          }
          default:
            return session !== undefined;
        }
      },
      end() {
        if (fault !== undefined) report.failed(fault);
      },
    };
  };
}

const preset: Preset = {
  name: "opencode",
  install: "npm install -g opencode-ai",
  variables: [
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "OPENROUTER_API_KEY",
  ],
  usage: "cost",
  args: ({ session }, { access, model }) => [
    "run",
    "--format",
    "json",
    ...(access === "full" ? ["--auto"] : []),
    ...(model === undefined ? [] : ["-m", model]),
    ...(session === null ? [] : ["-s", session]),
  ],
  env: ({ access }) => ({ OPENCODE_CONFIG_CONTENT: JSON.stringify({ permission: rules[access] }) }),
  protocol: opencodeProtocol(silenceMs),
};

/** opencode as a subagent. */
export function opencode(options: PresetOptions & { silenceMs?: number } = {}): SubagentRunner {
  const { silenceMs: silence, ...rest } = options;
  return presetRunner(silence === undefined ? preset : { ...preset, protocol: opencodeProtocol(silence) }, rest);
}
