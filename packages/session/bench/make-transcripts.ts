import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

export interface MadeSet {
  root: string;
  bytes: number;
  files: number;
  /** Bytes of prompts and answers. */
  textBytes: number;
  rareWord: string;
  commonWord: string;
  outputWord: string;
  lastFile: string;
}

const vocabulary =
  "parser token index session build error module stream buffer release worker layout render cache policy schema anchor commit journal vector".split(
    " ",
  );

/** Mulberry32: the same set for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Claude Code transcripts: about 5 % prompts and answers, 90 % output of tools, the rest calls and envelopes. */
export function makeTranscripts(root: string, cwd: string, files: number, bytes: number): MadeSet {
  const next = random(7);
  const word = () => vocabulary[Math.floor(next() * vocabulary.length)] ?? "word";
  const words = (count: number) =>
    Array.from({ length: count }, () => (next() < 0.3 ? `${word()}${Math.floor(next() * 4_000)}` : word())).join(" ");
  const outputs = Array.from({ length: 64 }, () => words(1_400));
  const folder = join(root, "projects", "-bench");
  mkdirSync(folder, { recursive: true });
  const perFile = bytes / files;
  let total = 0;
  let textBytes = 0;
  let lastFile = "";
  for (let file = 0; file < files; file += 1) {
    const id = `${file.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
    lastFile = join(folder, `${id}.jsonl`);
    const descriptor = openSync(lastFile, "w");
    let written = 0;
    let parent: string | null = null;
    for (let turn = 0; written < perFile; turn += 1) {
      const base = (name: string) => {
        const uuid = `${name}-${file}-${turn}`;
        const line = {
          parentUuid: parent,
          isSidechain: false,
          cwd,
          sessionId: id,
          version: "2.1.152",
          gitBranch: "main",
          uuid,
          timestamp: new Date(1_700_000_000_000 + file * 3_600_000 + turn * 20_000).toISOString(),
        };
        parent = uuid;
        return line;
      };
      const said = words(24) + (file === Math.floor(files / 2) && turn === 1 ? " xylophone" : "");
      const answer = words(60);
      textBytes += said.length + answer.length;
      const output =
        (outputs[Math.floor(next() * outputs.length)] ?? "") + (file === 3 && turn === 0 ? " quixotic" : "");
      const message = {
        id: `msg_${file}_${turn}`,
        role: "assistant",
        model: "claude-sonnet-4-5",
        usage: { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 5, cache_creation_input_tokens: 1 },
      };
      const records = [
        { ...base("p"), type: "user", message: { role: "user", content: said } },
        { ...base("a"), type: "assistant", message: { ...message, content: [{ type: "text", text: answer }] } },
        {
          ...base("c"),
          type: "assistant",
          message: {
            ...message,
            content: [{ type: "tool_use", id: `t_${turn}`, name: "Bash", input: { command: "ls -la" } }],
          },
        },
        {
          ...base("r"),
          type: "user",
          message: { role: "user", content: [{ type: "tool_result", tool_use_id: `t_${turn}`, content: output }] },
        },
      ];
      written += writeSync(descriptor, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    }
    closeSync(descriptor);
    total += written;
  }
  return {
    root,
    bytes: total,
    files,
    textBytes,
    rareWord: "xylophone",
    commonWord: "parser",
    outputWord: "quixotic",
    lastFile,
  };
}
