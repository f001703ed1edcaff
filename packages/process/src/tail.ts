/** The last bytes of a stream, in bounded memory. */
export interface Tail {
  /** Bytes seen in all, kept or not. */
  readonly total: number;
  push(chunk: Uint8Array): void;
  /** What is kept, as text; starts at a whole character. */
  text(): string;
  /** The last lines that are not blank. */
  lines(count: number): string[];
}

/** Keeps the last `maxBytes` bytes of what is pushed: for the stderr of a child that may never stop talking. */
export function createTail(maxBytes: number): Tail {
  let chunks: Uint8Array[] = [];
  let kept = 0;
  let total = 0;
  const text = () => {
    let bytes = Buffer.concat(chunks);
    if (bytes.length > maxBytes) bytes = bytes.subarray(bytes.length - maxBytes);
    let start = 0;
    if (total > bytes.length) while (start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
    return bytes.subarray(start).toString("utf8");
  };
  return {
    get total() {
      return total;
    },
    push(chunk) {
      total += chunk.length;
      const part = chunk.length > maxBytes ? chunk.subarray(chunk.length - maxBytes) : chunk;
      chunks.push(part);
      kept += part.length;
      if (kept < maxBytes * 2) return;
      const joined = Buffer.concat(chunks).subarray(-maxBytes);
      // a copy: a view would hold the whole joined buffer
      chunks = [Buffer.from(joined)];
      kept = joined.length;
    },
    text,
    lines(count) {
      return text()
        .split(/\r?\n/)
        .filter((line) => line.trim() !== "")
        .slice(-count);
    },
  };
}
