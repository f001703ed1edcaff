import { readFileSync } from "node:fs";
import { parseLine } from "../json-line.ts";
import { nonEmpty } from "../shapes.ts";
import { type FileStat, statFile } from "../transcripts/file-state.ts";

/** A file of names is small; what is larger is none. */
const mostBytes = 16 * 1024 * 1024;

/** Names of threads that Codex lists in `session_index.jsonl`, the newest of each; read again only when the file changed. */
export function sessionNames(path: string): () => ReadonlyMap<string, string> {
  let known: { stat: FileStat; names: ReadonlyMap<string, string> } | undefined;
  return () => {
    const stat = statFile(path);
    if (stat === undefined || stat.size > mostBytes) return new Map();
    if (known?.stat.size !== stat.size || known.stat.mtimeNs !== stat.mtimeNs) known = { stat, names: namesIn(path) };
    return known.names;
  };
}

function namesIn(path: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const line of readFileSync(path, "utf8").split("\n")) {
    for (const record of parseLine(Buffer.from(line), () => true).records) {
      const id = nonEmpty(record.id);
      const name = nonEmpty(record.thread_name) ?? nonEmpty(record.name);
      if (id !== undefined && name !== undefined) names.set(id, name);
    }
  }
  return names;
}
