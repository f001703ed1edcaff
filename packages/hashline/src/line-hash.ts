/** Codes of lines, made from their bytes alone: a line keeps its code wherever it moves. */
export interface LineHasher {
  /**
   * Code of the line content `bytes[start, end)`: XXH32 of it without trailing spaces, tabs and CRs, modulo
   * `26 ** width`, as `width` letters.
   *
   * @param width 2, 3 or 4
   */
  code(bytes: Uint8Array, start: number, end: number, width: number): string;
}

/** Lines up to this many bytes are copied into one place: cheaper than a view of its own for each. */
const SHORT_LINE = 160;

/** How many codes there are per width. */
const CODES = [1, 26, 26 ** 2, 26 ** 3, 26 ** 4];

/** Widest code whose letters are kept in a table: 17,576 strings of three letters. */
const TABLE_WIDTH = 3;

/** Loads the hash function; every call compiles it anew, so keep what it gives. */
export async function createLineHasher(): Promise<LineHasher> {
  const { default: load } = await import("xxhash-wasm");
  const { h32Raw } = await load();
  const tables: (readonly string[] | undefined)[] = [];
  const tableOf = (width: number): readonly string[] => {
    const made = Array.from({ length: CODES[width] ?? 0 }, (_, value) => letters(value, width));
    tables[width] = made;
    return made;
  };
  const scratch = new Uint8Array(SHORT_LINE);
  const prefixes: Uint8Array[] = Array.from({ length: SHORT_LINE + 1 }, (_, length) => scratch.subarray(0, length));
  return {
    code(bytes, start, end, width) {
      let last = end;
      while (last > start && isBlank(bytes[last - 1])) last--;
      const length = last - start;
      let content = prefixes[length];
      if (content) for (let index = 0; index < length; index++) content[index] = bytes[start + index] ?? 0;
      else content = new Uint8Array(bytes.buffer, bytes.byteOffset + start, length);
      const hash = h32Raw(content, 0) >>> 0;
      const value = hash % (CODES[width] ?? 1);
      if (width > TABLE_WIDTH) return letters(value, width);
      return (tables[width] ?? tableOf(width))[value] ?? "";
    },
  };
}

function isBlank(byte: number | undefined): boolean {
  return byte === 32 || byte === 9 || byte === 13;
}

function letters(value: number, width: number): string {
  let text = "";
  for (let rest = value, place = 0; place < width; place++, rest = Math.floor(rest / 26)) {
    text = String.fromCharCode(97 + (rest % 26)) + text;
  }
  return text;
}

/** Files up to this many lines have codes of two letters, longer ones of three. */
export const SHORT_FILE_LINES = 2_000;

export type HashWidth = "auto" | 2 | 3 | 4;

/** How many letters a code has in a file of `lineCount` lines. */
export function hashWidthOf(lineCount: number, option: HashWidth = "auto"): number {
  if (option !== "auto") return option;
  return lineCount <= SHORT_FILE_LINES ? 2 : 3;
}
