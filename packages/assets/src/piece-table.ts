/** Character codes that become a text; grows as needed. */
export class CodeWriter {
  codes = new Uint16Array(1 << 14);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  write(code: number): void {
    if (this.length === this.codes.length) this.#grow(this.length + 1);
    this.codes[this.length++] = code;
  }

  writeText(text: string): void {
    for (let i = 0; i < text.length; i++) this.write(text.charCodeAt(i));
  }

  writeCodes(codes: Uint16Array, from: number, to: number): void {
    const room = this.length + to - from;
    if (room > this.codes.length) this.#grow(room);
    for (let i = from; i < to; i++) this.codes[this.length++] = codes[i] ?? 0;
  }

  text(): string {
    return Buffer.from(this.codes.buffer, 0, this.length * 2).toString("utf16le");
  }

  #grow(least: number): void {
    const larger = new Uint16Array(Math.max(least, this.codes.length * 2));
    larger.set(this.codes);
    this.codes = larger;
  }
}

/**
 * Pieces of texts between blanks, each with codes that stand for it: a hash table over character codes, so that a piece
 * that is known is found without being cut out of its text.
 */
export class PieceTable {
  /** Where the text goes on behind the piece that {@link readAt} read last. */
  next = 0;
  readonly #read = { hash: 0, from: 0, to: 0 };
  readonly #most: number;
  readonly #slots: Int32Array;
  readonly #hashes: Int32Array;
  /** Where the key of a piece begins among the keys; the next one's beginning ends it. The same for its codes. */
  readonly #keyAt: Int32Array;
  readonly #valueAt: Int32Array;
  readonly #keys = new CodeWriter();
  readonly #values = new CodeWriter();
  #count = 0;

  constructor(most: number) {
    this.#most = most;
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(most * 2)));
    this.#hashes = new Int32Array(most);
    this.#keyAt = new Int32Array(most + 1);
    this.#valueAt = new Int32Array(most + 1);
  }

  get isFull(): boolean {
    return this.#count === this.#most;
  }

  /**
   * Reads the piece that begins at an offset, without the signs around it that no term holds; its hash is FNV-1a over
   * its codes. Sets {@link next}.
   */
  readAt(text: string, start: number): Readonly<{ hash: number; from: number; to: number }> {
    const read = this.#read;
    let at = start;
    while (at < text.length && isSign(text.charCodeAt(at))) at++;
    // A sign before one outside ASCII may be the first half of an emoji.
    if (at > start && at < text.length && text.charCodeAt(at) > 0x7f) at--;
    read.from = at;
    let hash = 0x811c9dc5 | 0;
    let kept = hash;
    let to = at;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (isBlank(code)) break;
      hash = Math.imul(hash ^ code, 0x01000193);
      if (isSign(code) && code !== plus && code !== number) continue;
      kept = hash;
      to = at + 1;
    }
    read.to = to;
    read.hash = kept ^ (kept >>> 15);
    this.next = at + 1;
    return read;
  }

  /** The number of a piece, below 0 when it is not known. */
  find(hash: number, text: string, start: number, end: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const piece = (this.#slots[slot] ?? 0) - 1;
      if (piece < 0 || (this.#hashes[piece] === hash && this.#isAt(piece, text, start, end))) return piece;
    }
  }

  add(hash: number, text: string, start: number, end: number, value: CodeWriter): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    const piece = this.#count++;
    this.#slots[slot] = piece + 1;
    this.#hashes[piece] = hash;
    for (let i = start; i < end; i++) this.#keys.write(text.charCodeAt(i));
    this.#values.writeCodes(value.codes, 0, value.length);
    this.#keyAt[piece + 1] = this.#keys.length;
    this.#valueAt[piece + 1] = this.#values.length;
    return piece;
  }

  copyTo(piece: number, out: CodeWriter): void {
    out.writeCodes(this.#values.codes, this.#valueAt[piece] ?? 0, this.#valueAt[piece + 1] ?? 0);
  }

  #isAt(piece: number, text: string, start: number, end: number): boolean {
    const from = this.#keyAt[piece] ?? 0;
    if ((this.#keyAt[piece + 1] ?? 0) - from !== end - start) return false;
    const { codes } = this.#keys;
    for (let i = start; i < end; i++) if (codes[from + i - start] !== text.charCodeAt(i)) return false;
    return true;
  }
}

const plus = 0x2b;
const number = 0x23;

/** ASCII signs, none of them a letter, a digit or white space. */
function isSign(code: number): boolean {
  return (
    (code > 0x20 && code < 0x30) ||
    (code > 0x39 && code < 0x41) ||
    (code > 0x5a && code < 0x61) ||
    (code > 0x7a && code < 0x7f)
  );
}

/** The white space of `\s`. */
function isBlank(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 9 && code <= 13);
  if (code < 0xa0) return false;
  return (
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff
  );
}
