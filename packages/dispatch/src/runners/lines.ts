/** Cuts bytes into lines; a line beyond the limit is not kept, and told by its size. */
export interface LineCutter {
  push(chunk: Uint8Array): void;
  /** The rest without a line break. */
  end(): void;
}

const newline = 0x0a;

/**
 * @param maxBytes Longest line that is handed on.
 * @param line Gets each line without its break, decoded as UTF-8.
 * @param tooLong Gets the size of each line that was left out.
 */
export function cutLines(maxBytes: number, line: (text: string) => void, tooLong: (bytes: number) => void): LineCutter {
  let parts: Uint8Array[] = [];
  let size = 0;
  const add = (part: Uint8Array) => {
    size += part.length;
    if (size <= maxBytes) parts.push(part);
    else parts = [];
  };
  const finish = () => {
    if (size > maxBytes) tooLong(size);
    else {
      const text = Buffer.concat(parts).toString("utf8");
      line(text.endsWith("\r") ? text.slice(0, -1) : text);
    }
    parts = [];
    size = 0;
  };
  return {
    push(chunk) {
      let start = 0;
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
        add(chunk.subarray(start, at));
        finish();
        start = at + 1;
      }
      if (start < chunk.length) add(chunk.subarray(start));
    },
    end() {
      if (size > 0) finish();
    },
  };
}
