import { ToolError } from "@toolhaft/core";
import type { TextFile } from "@toolhaft/workspace";

/** The whole text of a file, byte order mark included. */
export function textOf(file: TextFile): string {
  return (file.bom ? "\ufeff" : "") + file.decode(file.bom ? 3 : 0, file.bytes.length);
}

/**
 * The text of a file that must be one.
 *
 * @throws ToolError `unsupported` for a binary file
 */
export function wholeText(file: TextFile, shown: string): string {
  const reason = file.bytes.includes(0) ? "it is binary" : file.encoding === "utf-8" ? undefined : "it is not UTF-8";
  if (reason === undefined) return textOf(file);
  throw new ToolError("unsupported", `${shown} has ${file.bytes.length} bytes and cannot be shown: ${reason}`, {
    hint: "only text can be read here",
    details: { bytes: file.bytes.length },
  });
}
