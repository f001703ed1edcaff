import { createHash } from "node:crypto";
import xxhash from "xxhash-wasm";

/**
 * Ways in which other tools annotate and edit, written down from what they do: the work is the same, so the time is.
 */
export async function createPeers() {
  const { h32 } = await xxhash();
  const letters = "abcdefghijklmnop";

  return {
    /** Decode, split, strip CR, trim the end, hash the string, join. */
    annotateByStrings(bytes: Buffer): string {
      return bytes
        .toString("utf8")
        .split("\n")
        .map((raw, index) => {
          const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
          const hash = h32(line.trimEnd()) % 256;
          return `${index + 1}#${letters[hash >> 4]}${letters[hash & 15]}|${line}`;
        })
        .join("\n");
    },
    /** SHA-256 of every line, cut to base-64 signs. */
    annotateBySha(bytes: Buffer): string {
      return bytes
        .toString("utf8")
        .split("\n")
        .map((line, index) => {
          const code = createHash("sha256").update(line).digest("base64").slice(0, 3);
          return `${index + 1}:${code}|${line}`;
        })
        .join("\n");
    },
    /** Every edit makes a new array of all lines. */
    editByCopies(bytes: Buffer, edits: readonly { line: number; lines: readonly string[] }[]): Buffer {
      let lines: readonly string[] = bytes.toString("utf8").split("\n");
      for (const edit of edits.toSorted((a, b) => b.line - a.line)) {
        lines = [...lines.slice(0, edit.line - 1), ...edit.lines, ...lines.slice(edit.line)];
      }
      return Buffer.from(lines.join("\n"));
    },
  };
}
