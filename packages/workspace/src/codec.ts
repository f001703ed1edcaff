import { ToolError } from "@toolhaft/core";

/** How bytes of a file become text and a payload becomes bytes. */
export interface TextCodec {
  readonly encoding: string;
  /** Never throws: what cannot be decoded shows as U+FFFD. A U+FEFF at the start is kept. */
  decode(bytes: Uint8Array): string;
  /** @throws ToolError `unsupported` naming the character that cannot be written, `invalid_input` for text that is none */
  encode(text: string): Uint8Array;
}

export const utf8: TextCodec = {
  encoding: "utf-8",
  decode: decodeUtf8,
  encode(text) {
    checkPayloadText(text);
    return Buffer.from(text, "utf8");
  },
};

/** Bytes of an unknown single- or multi-byte encoding: shown as far as they are ASCII or UTF-8, written in ASCII only. */
export const unknown8bit: TextCodec = {
  encoding: "unknown-8bit",
  decode: decodeUtf8,
  encode(text) {
    checkPayloadText(text);
    const foreign = /[^\0-\x7f]/u.exec(text);
    if (foreign) {
      throw new ToolError("unsupported", `the file is not UTF-8, so ${nameOf(foreign[0])} cannot be written into it`, {
        hint: "write ASCII only, or tell the file's encoding with the option encodingOf",
      });
    }
    return Buffer.from(text, "latin1");
  },
};

function decodeUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** A character as people can look it up: `"é" (U+00E9)`. */
export function nameOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ? `"${character}" (U+${code})` : `U+${code}`;
}

/** What keeps a text from being written to any file; `undefined` when nothing does. */
export function payloadProblem(text: string): string | undefined {
  if (!isWellFormed(text)) return "is not well-formed Unicode (a lone surrogate)";
  return text.includes("\0") ? "holds a NUL character" : undefined;
}

/** @throws ToolError `invalid_input` for a lone surrogate or a NUL */
export function checkPayloadText(text: string): void {
  const problem = payloadProblem(text);
  if (problem) {
    throw new ToolError("invalid_input", `the text to write ${problem}`, { hint: "send plain text without it" });
  }
}

/** `String.prototype.isWellFormed` is in Node 20 but not yet in the ES2023 library. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
