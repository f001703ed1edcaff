import type { FileChange, ToolContext } from "@toolhaft/core";
import type { Workspace } from "@toolhaft/workspace";
import { MAX_LINE_CHARS } from "./annotate.ts";
import type { HashWidth } from "./line-hash.ts";
import type { SnapshotLimits } from "./snapshots.ts";

export interface HashlineOptions {
  /**
   * Where files are read and written. Share one with other tools, so that they share locks, journal and undo.
   * @default one per `ctx.directory`, made on the first call
   */
  workspace?: Workspace;
  /**
   * Letters of a line's code; `auto` is 2 up to 2,000 lines and 3 above.
   * @default "auto"
   */
  hashWidth?: HashWidth;
  /**
   * Code points of a line that are shown; a longer one is cut and cannot be replaced as a whole unseen.
   * @default 2_000
   */
  maxLineChars?: number;
  /**
   * Characters of a reply.
   * @default 30_000
   */
  maxTextChars?: number;
  /**
   * What happens to edits of an older version that is still known: their lines are sought in the present file, or the
   * call is refused.
   * @default "remap"
   */
  stale?: "remap" | "reject";
  /**
   * What happens when lines are replaced that the session was not shown: nothing, a warning, or a refusal that shows them.
   * @default "warn"
   */
  seenGuard?: "off" | "warn" | "reject";
  /**
   * How much of old versions is kept in memory.
   * @default { files: 256, versions: 4, bytes: 67_108_864 }
   */
  snapshots?: { files?: number; versions?: number; bytes?: number };
  /**
   * Runs after a write: a formatter, diagnostics. Its strings become notes of the reply, which shows the files as they
   * are on disk afterwards.
   */
  afterCommit?(changes: readonly FileChange[], ctx: ToolContext): Promise<readonly string[]>;
}

export interface Settings {
  readonly hashWidth: HashWidth;
  readonly maxLineChars: number;
  readonly maxTextChars: number;
  readonly stale: "remap" | "reject";
  readonly seenGuard: "off" | "warn" | "reject";
  readonly snapshots: SnapshotLimits;
  readonly afterCommit: HashlineOptions["afterCommit"];
}

/** @throws RangeError for limits that are no positive numbers */
export function settingsOf(options: HashlineOptions): Settings {
  const { files = 256, versions = 4, bytes = 64 * 1024 * 1024 } = options.snapshots ?? {};
  const settings: Settings = {
    hashWidth: options.hashWidth ?? "auto",
    maxLineChars: options.maxLineChars ?? MAX_LINE_CHARS,
    maxTextChars: options.maxTextChars ?? 30_000,
    stale: options.stale ?? "remap",
    seenGuard: options.seenGuard ?? "warn",
    snapshots: { files, versions, bytes },
    afterCommit: options.afterCommit,
  };
  const { maxLineChars, maxTextChars } = settings;
  for (const [name, value] of Object.entries({ maxLineChars, maxTextChars, files, versions, bytes })) {
    if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name} must be a positive integer, not ${value}`);
  }
  return settings;
}
