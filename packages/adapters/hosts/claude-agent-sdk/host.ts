import { createSdkMcpServer, type McpSdkServerConfigWithInstance } from "@anthropic-ai/claude-agent-sdk";
import { toClaudeAgentSdk } from "../../src/claude-agent-sdk.ts";
import type { Host } from "../../test/conformance.ts";
import { runClaudeAgentSdk } from "../../test/hosts/claude-agent-sdk.ts";

export const hosts: readonly Host[] = [
  {
    name: "the server of the Claude Agent SDK, beside the SDK itself",
    lost: ["data", "fileChanges", "asker", "cutInput"],
    asks: "never",
    async run(turn) {
      // What the SDK makes for tools of its own has the same form as ours.
      const own: McpSdkServerConfigWithInstance = createSdkMcpServer({ name: "own" });
      const ours = toClaudeAgentSdk(turn.tools);
      for (const key of Object.keys(own).filter((name) => name !== "instance"))
        if (!(key in ours)) throw new Error(`the SDK's own server has ${key}, ours has not`);
      if (typeof own.instance.connect !== typeof ours.instance.connect) throw new Error("ours cannot be connected");
      return runClaudeAgentSdk(turn);
    },
  },
];
