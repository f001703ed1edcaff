/** Looks for a text in the bytes of JSON lines: finds every place it may stand, and now and then one where it does not. */
export interface ByteNeedle {
  /** Most bytes a match takes. */
  readonly length: number;
  /** Gives the next match at or after a place, -1 for none. */
  within(bytes: Buffer): (from: number) => number;
}

/**
 * @param text what is looked for
 * @param bothCases whether `A` finds `a`
 */
export function byteNeedle(text: string, bothCases: boolean): ByteNeedle {
  const escaped = JSON.stringify(text).slice(1, -1);
  if (!/^[\x00-\x7f]*$/.test(escaped)) return patternNeedle(escaped, bothCases);
  return bothCases ? foldedNeedle(escaped) : plainNeedle(escaped);
}

function plainNeedle(text: string): ByteNeedle {
  const needle = Buffer.from(text);
  return { length: needle.length, within: (bytes) => (from) => bytes.indexOf(needle, from) };
}

/** Bit 5 set in every byte makes letters of both cases equal, four bytes at a time; it also equals a few other signs. */
function foldedNeedle(text: string): ByteNeedle {
  const needle = Buffer.from(text).map((byte) => byte | 0x20);
  let folded = Buffer.alloc(0);
  return {
    length: needle.length,
    within(bytes) {
      if (folded.length < bytes.length) folded = Buffer.allocUnsafeSlow((bytes.length + 3) & ~3);
      fold(bytes, folded);
      const view = folded.subarray(0, bytes.length);
      return (from) => view.indexOf(needle, from);
    },
  };
}

function fold(from: Buffer, to: Buffer): void {
  let at = 0;
  if (from.byteOffset % 4 === 0) {
    const words = from.length >> 2;
    const source = new Uint32Array(from.buffer, from.byteOffset, words);
    const target = new Uint32Array(to.buffer, to.byteOffset, words);
    for (let n = 0; n < words; n += 1) target[n] = (source[n] ?? 0) | 0x20202020;
    at = words * 4;
  }
  for (; at < from.length; at += 1) to[at] = (from[at] ?? 0) | 0x20;
}

/** Bytes are matched as Latin-1: letters beyond ASCII become their UTF-8 bytes, in both cases, or their `\u` escape. */
function patternNeedle(text: string, bothCases: boolean): ByteNeedle {
  const pattern = new RegExp(utf8Pattern(text, bothCases), bothCases ? "gi" : "g");
  return {
    length: text.length * "\\u0000".length,
    within(bytes) {
      const latin1 = bytes.toString("latin1");
      return (from) => {
        pattern.lastIndex = from;
        return pattern.exec(latin1)?.index ?? -1;
      };
    },
  };
}

function utf8Pattern(text: string, bothCases: boolean): string {
  return [...text]
    .map((character) => {
      if (character.charCodeAt(0) < 0x80) return character.replace(/[.*+?^${}()|[\]\\/]/, "\\$&");
      const forms = bothCases
        ? new Set([character, character.toLowerCase(), character.toUpperCase()])
        : new Set([character]);
      const choices = [...forms].flatMap((form) => [bytesPattern(form), escapePattern(form)]);
      return `(?:${[...new Set(choices)].join("|")})`;
    })
    .join("");
}

function bytesPattern(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}

function escapePattern(text: string): string {
  return Array.from(
    { length: text.length },
    (_, at) => `\\\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}
