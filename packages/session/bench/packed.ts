import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const packedId = "019c26a2-d9b3-7fc3-817c-c770a4fe8308";
const name = `rollout-2026-03-02T09-00-00-${packedId}.jsonl`;
const folder = ["sessions", "2026", "03", "02"];

/** One Codex rollout of so many bytes, prompts and answers among outputs of tools. */
export function makeRollout(home: string, cwd: string, bytes: number): string {
  const lines: string[] = [];
  let written = 0;
  const record = (type: string, payload: object) => {
    const line = JSON.stringify({ timestamp: new Date(1.7e12 + lines.length * 1_000).toISOString(), type, payload });
    lines.push(line);
    written += line.length + 1;
  };
  record("session_meta", { id: packedId, cwd, cli_version: "0.104.0", source: "cli", model_provider: "openai" });
  for (let turn = 0; written < bytes; turn += 1) {
    const output = Array.from({ length: 900 }, (_, n) => ((n * 7919 + turn * 104_729) % 99_991).toString(36)).join(" ");
    record("event_msg", { type: "user_message", message: `look at part ${turn}`, images: [] });
    record("response_item", { type: "function_call", name: "exec_command", call_id: `c${turn}`, arguments: "{}" });
    record("response_item", { type: "function_call_output", call_id: `c${turn}`, output });
    record("response_item", {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: `part ${turn} is whole` }],
    });
  }
  const place = join(home, ...folder);
  mkdirSync(place, { recursive: true });
  const path = join(place, name);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

/** The same rollout packed, in a home of its own; undefined without `zstd` on the PATH. */
export function packRollout(plain: string, home: string): string | undefined {
  const place = join(home, ...folder);
  mkdirSync(place, { recursive: true });
  const packed = join(place, `${name}.zst`);
  try {
    execFileSync("zstd", ["-q", "-k", "-o", `${packed}.part`, plain], { stdio: "ignore" });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  renameSync(`${packed}.part`, packed);
  return packed;
}
