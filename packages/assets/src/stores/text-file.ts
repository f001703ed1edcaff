import { createHash } from "node:crypto";
import { parseText, type TextFile } from "@toolhaft/workspace";

/** Bytes with what the port tells of them. */
export function textFileOf(path: string, bytes: Buffer, mode: number): TextFile {
  return { ...parseText(bytes), path, version: createHash("sha256").update(bytes).digest("hex"), mode };
}
