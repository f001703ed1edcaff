import { open } from "node:fs/promises";
import type { LineSource } from "../lines.ts";

const chunkBytes = 256 * 1024;

/** The unpacked bytes of a Zstandard file, streamed; offsets count unpacked bytes, so reading on means unpacking again. */
export function packedSource(path: string): LineSource {
  return {
    async *chunks(from, signal) {
      const { Decompress } = await import("fzstd");
      const ready: Uint8Array[] = [];
      const stream = new Decompress((chunk) => void ready.push(chunk));
      const handle = await open(path, "r");
      let skip = from;
      try {
        for (let ended = false; !ended; ) {
          signal.throwIfAborted();
          const packed = new Uint8Array(chunkBytes);
          const { bytesRead } = await handle.read(packed, 0, chunkBytes, null);
          ended = bytesRead === 0;
          stream.push(packed.subarray(0, bytesRead), ended);
          for (const chunk of ready.splice(0)) {
            if (skip >= chunk.length) skip -= chunk.length;
            else {
              yield skip === 0 ? chunk : chunk.subarray(skip);
              skip = 0;
            }
          }
        }
      } finally {
        await handle.close();
      }
    },
  };
}
