import { Writable } from "node:stream";

/** The process's real standard output, and the way to give it back. */
export interface ClaimedStdout {
  stream: Writable;
  restore(): void;
}

/**
 * Takes standard output for the protocol: from here on `process.stdout.write` and `console.*` go to standard error, so
 * that no dependency can break a message by printing. Call it before anything else is loaded.
 */
export function claimStdout(): ClaimedStdout {
  const { stdout, stderr } = process;
  const original = stdout.write;
  const write = original.bind(stdout);
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, encoding, done) {
      if (typeof chunk === "string") write(chunk, encoding, (error) => done(error));
      else write(chunk, (error) => done(error));
    },
  });
  const onError = (error: Error) => void stream.destroy(error);
  stdout.on("error", onError);
  stdout.write = stderr.write.bind(stderr);
  return {
    stream,
    restore() {
      stdout.off("error", onError);
      stdout.write = original;
    },
  };
}
