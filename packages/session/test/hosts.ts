import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Lines of JSON as hosts write them. */
export function lines(records: readonly unknown[]): string {
  return records.map((record) => `${typeof record === "string" ? record : JSON.stringify(record)}\n`).join("");
}

export const claudeId = "2a08d092-52c7-4494-84f9-beecd36f3d36";
export const codexId = "019c26a2-d9b3-7fc3-817c-c770a4fe8308";

export interface ClaudeLine {
  uuid: string;
  parent?: string | null;
  at?: string;
  fields?: object;
}

/** Makes lines of one Claude Code session. */
export function claudeLines(cwd: string, id = claudeId) {
  let minute = 0;
  const base = ({ uuid, parent, at, fields }: ClaudeLine) => ({
    parentUuid: parent ?? null,
    isSidechain: false,
    cwd,
    sessionId: id,
    version: "2.1.152",
    gitBranch: "main",
    uuid,
    timestamp: at ?? new Date(Date.UTC(2026, 2, 2, 9, minute++)).toISOString(),
    ...fields,
  });
  return {
    prompt: (line: ClaudeLine, content: unknown) => ({
      ...base(line),
      type: "user",
      message: { role: "user", content },
    }),
    answer: (line: ClaudeLine, message: object, requestId?: string) => ({
      ...base(line),
      type: "assistant",
      ...(requestId !== undefined && { requestId }),
      message: { role: "assistant", model: "claude-sonnet-4-5", type: "message", ...message },
    }),
    result: (line: ClaudeLine, callId: string, content: unknown, fields: object = {}) => ({
      ...base(line),
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: callId, content, ...fields }] },
    }),
    other: (line: ClaudeLine, fields: object) => ({ ...base(line), ...fields }),
  };
}

export function usage(input: number, output: number, read = 0, write = 0) {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: write,
  };
}

export async function writeClaude(
  root: string,
  records: readonly unknown[],
  id = claudeId,
  project = "-w",
): Promise<string> {
  const path = join(root, "projects", project, `${id}.jsonl`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof records === "string" ? records : lines(records));
  return path;
}

/** Makes records of one Codex rollout. */
export function codexRecords(cwd: string, id = codexId) {
  let second = 0;
  const stamp = (at?: string) => at ?? new Date(Date.UTC(2026, 2, 2, 9, 0, second++)).toISOString();
  const record = (type: string, payload: object, at?: string) => ({ timestamp: stamp(at), type, payload });
  const counted = (total: number) => ({
    input_tokens: total,
    cached_input_tokens: 0,
    output_tokens: 0,
    reasoning_output_tokens: 0,
    total_tokens: total,
  });
  return {
    meta: (fields: object = {}, at?: string) =>
      record(
        "session_meta",
        { id, timestamp: stamp(at), cwd, cli_version: "0.104.0", source: "cli", model_provider: "openai", ...fields },
        at,
      ),
    turn: (at?: string) => [
      record("event_msg", { type: "task_started", turn_id: "t" }, at),
      record("turn_context", { turn_id: "t", cwd, model: "gpt-5.3-codex" }, at),
    ],
    prompt: (message: string, at?: string) => record("event_msg", { type: "user_message", message, images: [] }, at),
    item: (payload: object, at?: string) => record("response_item", payload, at),
    event: (payload: object, at?: string) => record("event_msg", payload, at),
    answer: (text: string, at?: string) =>
      record("response_item", { type: "message", role: "assistant", content: [{ type: "output_text", text }] }, at),
    tokens: (total: number, last: number, at?: string) =>
      record(
        "event_msg",
        { type: "token_count", info: { total_token_usage: counted(total), last_token_usage: counted(last) } },
        at,
      ),
  };
}

export async function writeCodex(
  home: string,
  records: readonly unknown[],
  id = codexId,
  stamp = "2026-03-02T09-00-00",
): Promise<string> {
  const path = join(home, "sessions", "2026", "03", "02", `rollout-${stamp}-${id}.jsonl`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, lines(records));
  return path;
}
