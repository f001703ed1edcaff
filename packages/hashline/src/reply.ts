import { shortVersion } from "./resolve.ts";

/** `src/app.ts  version: 91bc07aa5521  +2 -1` */
export function versionLine(name: string, version: string, additions: number, deletions: number): string {
  return `${name}  version: ${shortVersion(version)}  ${counts(additions, deletions)}`;
}

/** `+2 -1`; a side without lines is left out, unless both are. */
export function counts(additions: number, deletions: number): string {
  const parts = [...(additions > 0 ? [`+${additions}`] : []), ...(deletions > 0 ? [`-${deletions}`] : [])];
  return parts.length > 0 ? parts.join(" ") : "+0 -0";
}

/** Warnings and notes, one a line. */
export function replyWarnings(reply: {
  readonly warnings: readonly { code: string; filePath: string; message: string }[];
  readonly notes: readonly string[];
}): readonly string[] {
  const warnings = reply.warnings.map(({ code, filePath, message }) =>
    message.includes(filePath) ? `warning ${code}: ${message}` : `warning ${code}: ${filePath}: ${message}`,
  );
  return [...warnings, ...reply.notes.map((note) => `note: ${note}`)];
}

/** At most `most` lines of a unified diff, without its file header. */
export function diffLines(diff: string, most: number): readonly string[] {
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const start = lines.findIndex((line) => line.startsWith("@@"));
  const hunks = start < 0 ? [] : lines.slice(start);
  if (hunks.length <= most) return hunks;
  return [...hunks.slice(0, most), `... ${hunks.length - most} more lines of the diff are not shown`];
}
