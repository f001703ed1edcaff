import { join } from "node:path";
import type { CallResult, Content } from "../facts.ts";
import type { JsonRecord } from "../json-line.ts";
import { object, text } from "../shapes.ts";
import { statFile } from "../transcripts/file-state.ts";
import type { TranscriptFormat } from "../transcripts/format.ts";
import { packedSource } from "../transcripts/packed.ts";
import { eventResult, itemContent, itemResult, ownResult } from "./content.ts";
import { abortText, textContent, userContent } from "./event-text.ts";
import { findCodex } from "./find.ts";
import { codexInterpreter } from "./interpreter.ts";
import { sessionNames } from "./session-names.ts";

/** The rules of Codex rollouts below the given home folder. */
export function codexFormat(home: string): TranscriptFormat {
  return {
    source: "codex",
    isRecord: (value) =>
      typeof value.type === "string" || typeof value.id === "string" || value.record_type === "state",
    find: (signal) => findCodex(home, signal),
    unpacked: packedSource,
    stat: statFile,
    names: sessionNames(join(home, "session_index.jsonl")),
    statsAlone: true,
    async interpreter(file, context, saved) {
      const hasUserEvents = await context.startContains('"type":"user_message"');
      return codexInterpreter(file.session, { hasUserEvents, totalsOf: (id) => context.totalsOf(id) }, saved);
    },
    parts: (record) => partsOf(record),
  };
}

function partsOf(record: JsonRecord): { content: readonly Content[]; results: readonly CallResult[] } {
  const payload = object(record.payload);
  if (payload === undefined) return item(record);
  switch (record.type) {
    case "response_item":
      return item(payload);
    case "compacted":
      return { content: textContent(text(payload.message) ?? ""), results: [] };
    case "event_msg":
      return event(payload);
    default:
      return { content: [], results: [] };
  }
}

function item(value: JsonRecord): { content: readonly Content[]; results: readonly CallResult[] } {
  return (text(value.type) ?? "").endsWith("_output")
    ? { content: [], results: itemResult(value) }
    : { content: itemContent(value), results: ownResult(value) };
}

function event(value: JsonRecord): { content: readonly Content[]; results: readonly CallResult[] } {
  if (value.type === "user_message") return { content: userContent(value), results: [] };
  if (value.type === "turn_aborted") return { content: textContent(abortText(value)), results: [] };
  const results = eventResult(value);
  return results.length > 0 ? { content: [], results } : { content: textContent(text(value.message) ?? ""), results };
}
