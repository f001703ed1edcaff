export { type Installed, installPrograms, node22, sqliteFor22 } from "./install-programs.mjs";

/** Coding agents that tests start with a scripted model; they have to be installed with their scripts. */
export const agentPrograms = { "opencode-ai": "1.18.33", "@openai/codex": "0.171.0" };
