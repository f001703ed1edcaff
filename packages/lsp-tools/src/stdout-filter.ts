import { Transform } from "node:stream";

/** The longest message that is read; a longer one means a broken stream or a flood. */
export const maxMessageBytes = 64 * 1024 * 1024;

const headerStart = Buffer.from("Content-");
const headerEnd = Buffer.from("\r\n\r\n");
const maxHeaderBytes = 8 * 1024;

export interface StdoutFilter extends Transform {
  /** What stood between messages and is no message: banners, prints of a debugging session. At most 4 KiB. */
  readonly noise: string;
}

/**
 * Passes whole protocol frames on and drops everything that stands ahead of a `Content-…:` header.
 *
 * One banner line would shift the stream for good, for the reader behind expects nothing but frames. A frame over 64 MiB
 * fails the stream.
 */
export function createStdoutFilter(): StdoutFilter {
  let pending: Buffer = Buffer.alloc(0);
  let bodyLeft = 0;
  let noise = "";
  const drop = (bytes: Buffer) => {
    if (noise.length < 4096) noise += bytes.toString("utf8").slice(0, 4096 - noise.length);
  };

  const step = (push: (bytes: Buffer) => void): Error | undefined => {
    while (pending.length > 0) {
      if (bodyLeft > 0) {
        const part = pending.subarray(0, bodyLeft);
        bodyLeft -= part.length;
        pending = pending.subarray(part.length);
        push(part);
        continue;
      }
      const start = pending.indexOf(headerStart);
      if (start < 0) {
        // the tail may be the first half of a header
        const keep = Math.min(pending.length, headerStart.length - 1);
        drop(pending.subarray(0, pending.length - keep));
        pending = pending.subarray(pending.length - keep);
        return undefined;
      }
      if (start > 0) {
        drop(pending.subarray(0, start));
        pending = pending.subarray(start);
      }
      const end = pending.indexOf(headerEnd);
      if (end < 0) {
        if (pending.length > maxHeaderBytes) {
          drop(pending.subarray(0, headerStart.length));
          pending = pending.subarray(headerStart.length);
          continue;
        }
        return undefined;
      }
      const header = pending.subarray(0, end).toString("latin1");
      const length = /^Content-Length:[ \t]*(\d+)[ \t]*$/im.exec(header)?.[1];
      if (length === undefined) {
        // a word such as "Content-Type" in a printed line
        drop(pending.subarray(0, headerStart.length));
        pending = pending.subarray(headerStart.length);
        continue;
      }
      const size = Number(length);
      if (size > maxMessageBytes)
        return new Error(`a message of ${size} bytes is over the limit of ${maxMessageBytes}`);
      // rewritten: the reader behind wants exactly one spelling
      push(Buffer.from(`Content-Length: ${size}\r\n\r\n`, "latin1"));
      pending = pending.subarray(end + headerEnd.length);
      bodyLeft = size;
    }
    return undefined;
  };

  const filter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const error = step((bytes) => this.push(bytes));
      if (error) done(error);
      else done();
    },
  });
  return Object.defineProperty(filter, "noise", { get: () => noise }) as StdoutFilter;
}
