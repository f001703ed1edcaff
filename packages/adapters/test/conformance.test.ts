import { describeHost } from "./conformance.ts";
import { everyFamilyTool } from "./families.ts";
import { aiSdkHost } from "./hosts/ai-sdk.ts";
import { anthropicHost, anthropicRunnerHost } from "./hosts/anthropic.ts";
import { claudeAgentSdkHost } from "./hosts/claude-agent-sdk.ts";
import { geminiHost } from "./hosts/google.ts";
import { openaiChatHost, openaiResponsesHost } from "./hosts/openai.ts";
import { opencodeHost } from "./hosts/opencode.ts";

/** The hosts whose SDK is light; the others run in the long suite, by the same tests. */
const hosts = [
  aiSdkHost,
  anthropicHost,
  anthropicRunnerHost,
  claudeAgentSdkHost,
  geminiHost,
  openaiChatHost,
  openaiResponsesHost,
  opencodeHost,
];

for (const host of hosts) describeHost(host, everyFamilyTool);
