import { createHash } from "node:crypto";
import { foldText } from "@toolhaft/text";

/** Equal for texts that differ only in Unicode form, case and white space. */
export function contentHash(title: string, content: string): Uint8Array {
  return createHash("sha256")
    .update(`${foldText(title)}\0${foldText(content)}`)
    .digest();
}
