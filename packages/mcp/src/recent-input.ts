import type { Readable } from "node:stream";

/** Remembers what is being read from standard input, for the messages that the SDK cannot read. */
export interface RecentInput {
  /** Ids of the requests in the piece being read for which `unreadable` holds; each is given once. */
  takeIds(unreadable: (message: object) => boolean): (string | number)[];
}

/**
 * The SDK drops a request whose frame it cannot read, say for a progress token of the wrong type, and the client would
 * wait for ever. Only references to the pieces of the line being read are kept, so a message costs nothing more.
 */
export function recentInput(input: Readable): RecentInput {
  let pieces: Buffer[] = [];
  let complete = false;
  input.prependListener("data", (piece: Buffer) => {
    if (complete) pieces = [];
    pieces.push(piece);
    complete = piece.at(-1) === 10;
  });
  return {
    takeIds(unreadable) {
      const lines = Buffer.concat(pieces).toString("utf8").split("\n");
      pieces = [];
      return lines.flatMap((line) => {
        const message = parsed(line);
        if (message === undefined || !("id" in message) || !("method" in message) || !unreadable(message)) return [];
        return typeof message.id === "string" || typeof message.id === "number" ? [message.id] : [];
      });
    },
  };
}

function parsed(line: string): object | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === "object" && message !== null ? message : undefined;
  } catch {
    // No JSON: there is no id to answer to.
    return undefined;
  }
}
