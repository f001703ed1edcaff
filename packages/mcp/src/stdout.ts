import type { Writable } from "node:stream";

/** The process's real standard output, and the way to give it back. */
export interface ClaimedStdout {
  /** Writes to the real stream; its events are the real stream's. */
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
  // The stream itself under another `write`: a second stream in between would cost every message a turn of the loop.
  const face = { write: original, on: stdout.on, once: stdout.once, off: stdout.off, listeners: stdout.listeners };
  const bound = Object.entries(face).map(([name, method]) => [name, { value: method.bind(stdout), writable: true }]);
  const stream: Writable = Object.create(stdout, Object.fromEntries(bound));
  stdout.write = stderr.write.bind(stderr);
  return {
    stream,
    restore() {
      stdout.write = original;
    },
  };
}
