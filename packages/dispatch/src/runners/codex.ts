import type { SubagentRunner } from "../runner.ts";
import { type Preset, type PresetOptions, presetRunner } from "./preset.ts";
import { type AgentProtocol, count, eventOf, fields, messageIn, text, usageOf } from "./protocol.ts";

const sandboxes = { "read-only": "read-only", edit: "workspace-write", full: "danger-full-access" } as const;

const protocol: AgentProtocol = (request, report) => ({
  line(line) {
    const event = eventOf(line);
    switch (event?.type) {
      case "thread.started": {
        const thread = text(event.thread_id);
        if (thread !== undefined) report.session(thread);
        return true;
      }
      case "turn.started":
        return true;
      case "item.started":
      case "item.updated":
      case "item.completed": {
        const item = fields(event.item);
        if (item?.type === "error") report.status(`warning: ${messageIn(item)}`);
        else if (item?.type === "agent_message") {
          if (event.type !== "item.completed") return true;
          const words = text(item.text) ?? "";
          report.text(`${words}\n`);
          report.answer(words);
        } else report.tool(text(item?.type) ?? "item");
        return true;
      }
      case "turn.completed": {
        const usage = fields(event.usage);
        if (usage === undefined) return true;
        // The totals are those of the thread: what earlier runs of it used is not ours.
        const cached = count(usage.cached_input_tokens);
        const before = request.used;
        const since = (total: number, earlier: number | null | undefined) => Math.max(0, total - (earlier ?? 0));
        report.usage(
          "thread",
          usageOf({
            input: since(Math.max(0, count(usage.input_tokens) - cached), before?.inputTokens),
            output: since(count(usage.output_tokens), before?.outputTokens),
            reasoning:
              usage.reasoning_output_tokens === undefined
                ? null
                : since(count(usage.reasoning_output_tokens), before?.reasoningTokens),
            cacheRead: since(cached, before?.cacheReadTokens),
          }),
        );
        return true;
      }
      case "turn.failed":
        report.failed(messageIn(event.error ?? event));
        return true;
      case "error":
        // Repeats for ever while the server is away; the program says `turn.failed` or exits when it gives up.
        report.status(messageIn(event));
        return true;
      default:
        return false;
    }
  },
});

const preset: Preset = {
  name: "codex",
  install: "npm install -g @openai/codex",
  variables: ["CODEX_API_KEY", "CODEX_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
  usage: "tokens",
  args: ({ session }, { access, model, trustDirectory }) => {
    const more = [
      ...(model === undefined ? [] : ["-m", model]),
      ...(trustDirectory === true ? ["--skip-git-repo-check"] : []),
    ];
    // `resume` has no `-s`; the same setting by its name in the configuration holds for both.
    return session === null
      ? ["exec", "--json", "-s", sandboxes[access], ...more, "-"]
      : ["exec", "resume", "--json", "-c", `sandbox_mode="${sandboxes[access]}"`, ...more, session, "-"];
  },
  protocol,
};

/** Codex as a subagent. */
export function codex(options: PresetOptions = {}): SubagentRunner {
  return presetRunner(preset, options);
}
