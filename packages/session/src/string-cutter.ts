const quote = 0x22;
const backslash = 0x5c;

/** Bytes kept of each string of an oversize line. */
const keptOfString = 4096;
/** An escape is at most 12 bytes long (a surrogate pair), a code point at most 4: room to end a cut cleanly. */
const longestUnit = 12;
/** Past this the line is a placeholder only. */
const keptInAll = 8 * 1024 * 1024;

/**
 * Passes JSON through byte by byte and cuts every string to its first 4 KiB, so that a line of any length becomes
 * JSON small enough to parse: types, ids, times and usage stay whole, long texts keep their beginning.
 */
export class StringCutter {
  #out: Buffer = Buffer.allocUnsafe(64 * 1024);
  #length = 0;
  #overflow = false;
  #inString = false;
  #escaped = false;
  #stringStart = 0;
  #dropping = false;

  push(bytes: Uint8Array): void {
    if (this.#overflow) return;
    let at = 0;
    while (at < bytes.length && !this.#overflow) {
      at = this.#dropping ? this.#drop(bytes, at) : this.#copy(bytes, at);
    }
  }

  /** The shortened line; empty when its structure alone is too long. */
  end(): Uint8Array {
    return this.#overflow ? new Uint8Array(0) : this.#out.subarray(0, this.#length);
  }

  #copy(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length) {
      const byte = bytes[at] ?? 0;
      this.#write(byte);
      at += 1;
      if (this.#overflow) return at;
      if (!this.#inString) {
        if (byte === quote) {
          this.#inString = true;
          this.#stringStart = this.#length;
        }
      } else if (this.#escaped) {
        this.#escaped = false;
      } else if (byte === backslash) {
        this.#escaped = true;
      } else if (byte === quote) {
        this.#inString = false;
      }
      if (this.#inString && this.#length - this.#stringStart >= keptOfString) {
        this.#cut();
        return at;
      }
    }
    return at;
  }

  /** Skips to the end of the string; `indexOf` runs over the megabytes, not this loop. */
  #drop(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length) {
      if (this.#escaped) {
        this.#escaped = false;
        at += 1;
        continue;
      }
      const end = bytes.indexOf(quote, at);
      const stop = end === -1 ? bytes.length : end;
      const slashes = trailingBackslashes(bytes, at, stop);
      if (end === -1) {
        this.#escaped = slashes % 2 === 1;
        return bytes.length;
      }
      if (slashes % 2 === 0) {
        this.#dropping = false;
        this.#inString = false;
        this.#write(quote);
        return end + 1;
      }
      at = end + 1;
    }
    return at;
  }

  /** Takes back a code point or escape that the cut would split. */
  #cut(): void {
    const floor = Math.max(this.#stringStart, this.#length - longestUnit);
    let end = this.#length;
    for (let at = floor; at < this.#length; at += 1) {
      if (this.#out[at] === backslash) {
        end = at;
        break;
      }
    }
    while (end > this.#stringStart && ((this.#out[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    if (end === this.#length) {
      let lead = end - 1;
      while (lead > this.#stringStart && ((this.#out[lead] ?? 0) & 0xc0) === 0x80) lead -= 1;
      if (((this.#out[lead] ?? 0) & 0x80) !== 0) end = lead;
    }
    // A run of backslashes that starts before the floor may still be cut in its middle.
    while (end > this.#stringStart && this.#out[end - 1] === backslash) end -= 1;
    this.#length = end;
    this.#dropping = true;
  }

  #write(byte: number): void {
    if (this.#length === this.#out.length) {
      if (this.#length >= keptInAll) {
        this.#overflow = true;
        this.#out = Buffer.alloc(0);
        return;
      }
      const larger = Buffer.allocUnsafe(this.#out.length * 2);
      this.#out.copy(larger);
      this.#out = larger;
    }
    this.#out[this.#length] = byte;
    this.#length += 1;
  }
}

function trailingBackslashes(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  while (to - count - 1 >= from && bytes[to - count - 1] === backslash) count += 1;
  return count;
}
