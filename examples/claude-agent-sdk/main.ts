// Ask an agent about a folder: npm install @anthropic-ai/claude-agent-sdk @modelcontextprotocol/sdk, then ANTHROPIC_API_KEY=… npx tsx examples/claude-agent-sdk/main.ts "What is this?"
import { type Options, query } from "@anthropic-ai/claude-agent-sdk";
import { toClaudeAgentSdk } from "@toolhaft/adapters/claude-agent-sdk";
import { createHashline, type Hashline } from "@toolhaft/hashline";

/** The agent's settings: our tools alone, and only those that read. */
export function settings(hashline: Hashline, directory = process.cwd()): Options {
  return {
    cwd: directory,
    mcpServers: { toolhaft: toClaudeAgentSdk(hashline, { directory }) },
    allowedTools: hashline.tools
      .filter(({ annotations }) => annotations.readOnlyHint)
      .map(({ name }) => `mcp__toolhaft__${name}`),
    disallowedTools: ["Bash", "Edit", "Write"],
  };
}

if (process.argv[1] === import.meta.filename) {
  await using hashline = createHashline();
  const prompt = process.argv.slice(2).join(" ") || "What is in this folder?";
  for await (const message of query({ prompt, options: settings(hashline) }))
    if (message.type === "result") console.log(message.subtype === "success" ? message.result : message.subtype);
}
