import { type BigIntStats, statSync } from "node:fs";
import { ToolError } from "@toolhaft/core";
import type { Scope, Workspace } from "@toolhaft/workspace";
import { type SourceText, sourceText } from "./positions.ts";

/** The text of a file as servers are told it: without BOM, with its own line ends. */
export interface FileText {
  /** Real path. */
  path: string;
  source: SourceText;
  /** SHA-256 of the file's bytes. */
  version: string;
  bom: boolean;
  /** Whether the bytes are UTF-8: only then can they be edited. */
  editable: boolean;
}

export interface Texts {
  /**
   * The text now on disk. `through`: the path by which a caller reached it, when links lie between.
   * @throws ToolError as `workspace.read`
   */
  read(path: string, scope: Scope, through?: string): Promise<FileText>;
  /** Like read; `undefined` when it is absent or no text. */
  tryRead(path: string, scope: Scope): Promise<FileText | undefined>;
}

interface Kept {
  stats: BigIntStats;
  readAt: number;
  text: FileText;
}

const maxKept = 160;
/** A timestamp this near to the read may hide a later write of the same stamp. */
const doubtNs = 20_000_000n;

/** Reads through the workspace, and only again when the file's stamp says that it may have changed. */
export function createTexts(workspaceOf: (path: string) => Workspace, maxFileBytes: number): Texts {
  const kept = new Map<string, Kept>();
  const remember = (path: string, entry: Kept) => {
    kept.delete(path);
    kept.set(path, entry);
    if (kept.size > maxKept) for (const oldest of kept.keys()) return void kept.delete(oldest);
  };
  const read = async (path: string, scope: Scope, through = path): Promise<FileText> => {
    const stats = statOf(path);
    const known = kept.get(path);
    if (stats && known && sameStamp(stats, known)) {
      remember(path, known);
      return known.text;
    }
    if (stats?.isFile() && stats.size > maxFileBytes) {
      throw new ToolError("too_large", `${path} has ${stats.size} bytes, more than the limit of ${maxFileBytes}`, {
        hint: "raise the option maxFileBytes, or ask about a smaller file",
      });
    }
    const readAt = Date.now();
    const file = await workspaceOf(through).read(through, { ...scope, links: "lexical" });
    const bytes = file.bom ? file.bytes.subarray(3) : file.bytes;
    const editable = file.encoding === "utf-8";
    const text: FileText =
      known && known.text.version === file.version
        ? known.text
        : { path, source: sourceText(decode(bytes, file.encoding)), version: file.version, bom: file.bom, editable };
    if (stats) remember(path, { stats, readAt, text });
    return text;
  };
  return {
    read,
    async tryRead(path, scope) {
      try {
        return await read(path, scope);
      } catch (error) {
        if (error instanceof ToolError && tolerated.has(error.code)) return undefined;
        throw error;
      }
    },
  };
}

/** Synchronous: a stamp is read in microseconds, a turn through the thread pool takes a hundred times that. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined; // a folder above it is gone, or may not be entered: the read that follows says so
  }
}

const tolerated: ReadonlySet<string> = new Set(["not_found", "unsupported", "too_large", "denied", "invalid_input"]);

function decode(bytes: Uint8Array, encoding: string): string {
  const label = encoding.startsWith("unknown") ? "utf-8" : encoding;
  return new TextDecoder(label, { ignoreBOM: true }).decode(bytes);
}

function sameStamp(stats: BigIntStats, known: Kept): boolean {
  const before = known.stats;
  return (
    stats.mtimeNs === before.mtimeNs &&
    stats.ctimeNs === before.ctimeNs &&
    stats.size === before.size &&
    stats.ino === before.ino &&
    stats.dev === before.dev &&
    stats.ctimeNs + doubtNs < BigInt(known.readAt) * 1_000_000n
  );
}
