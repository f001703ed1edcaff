import { basename } from "node:path";
import type { JsonRecord } from "../json-line.ts";
import { object } from "../shapes.ts";
import { statFile } from "../transcripts/file-state.ts";
import type { TranscriptFormat } from "../transcripts/format.ts";
import { packedSource } from "../transcripts/packed.ts";
import { contentOf, resultsOf } from "./content.ts";
import { fileHistory } from "./file-history.ts";
import { findClaudeCode } from "./find.ts";
import { claudeCodeInterpreter, noticeContent } from "./interpreter.ts";

/** The rules of Claude Code's transcripts below the given configuration folders. */
export function claudeCodeFormat(roots: readonly string[]): TranscriptFormat {
  return {
    source: "claude-code",
    isRecord: (value) => typeof value.type === "string",
    find: (signal) => findClaudeCode(roots, signal),
    unpacked: packedSource,
    stat: statFile,
    statsAlone: true,
    async interpreter(file, _context, saved) {
      const sideFile = file.parent !== null || basename(file.path).startsWith("agent-");
      return claudeCodeInterpreter(file.session, sideFile, saved);
    },
    backups: fileHistory,
    parts(line: JsonRecord) {
      if (line.type === "user") return { content: contentOf(object(line.message)?.content), results: resultsOf(line) };
      if (line.type === "assistant")
        return { content: contentOf(object(line.message)?.content), results: resultsOf(line) };
      return { content: noticeContent(line), results: [] };
    },
  };
}
