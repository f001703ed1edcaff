import { open } from "node:fs/promises";
import type { LineSource } from "../lines.ts";

/** The first bytes of a transcript, unpacked where it is packed. */
export async function readStart(source: LineSource, bytes: number): Promise<Buffer> {
  if (typeof source !== "string") {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of source.chunks(0, new AbortController().signal)) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= bytes) break;
    }
    return Buffer.concat(chunks).subarray(0, bytes);
  }
  const handle = await open(source, "r");
  try {
    const buffer = Buffer.alloc(Math.min(bytes, (await handle.stat()).size));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
