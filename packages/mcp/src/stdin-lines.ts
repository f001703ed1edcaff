import { type Readable, Transform } from "node:stream";

/** Standard input cut into lines, and the line that is being handled. */
export interface StdinLines {
  stream: Transform;
  /** The id of the request on the line that is being handled; undefined where it is no request with an id. */
  currentRequestId(): string | number | undefined;
}

/**
 * Hands the transport one line at a time, so that a message the SDK cannot read can still be answered: it would drop a
 * request with, say, a progress token of the wrong type, and the client would wait for ever.
 */
export function stdinLines(input: Readable): StdinLines {
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let start = 0;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, start)) {
        this.push(chunk.subarray(start, at + 1));
        start = at + 1;
      }
      if (start < chunk.length) this.push(chunk.subarray(start));
      done();
    },
  });
  let pieces: Buffer[] = [];
  let lineEnded = false;
  // Registered before the transport's own listener, so it knows the line first.
  stream.on("data", (piece: Buffer) => {
    if (lineEnded) pieces = [];
    pieces.push(piece);
    lineEnded = piece.at(-1) === 10;
  });
  input.on("error", (error) => stream.destroy(error));
  input.pipe(stream);
  // Data flows once the transport listens, too.
  stream.pause();
  return { stream, currentRequestId: () => requestId(Buffer.concat(pieces).toString("utf8")) };
}

function requestId(line: string): string | number | undefined {
  try {
    const message: unknown = JSON.parse(line);
    if (typeof message !== "object" || message === null || !("id" in message) || !("method" in message))
      return undefined;
    return typeof message.id === "string" || typeof message.id === "number" ? message.id : undefined;
  } catch {
    // No JSON: there is no id to answer to.
    return undefined;
  }
}
