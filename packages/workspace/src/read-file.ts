import { createHash } from "node:crypto";
import { ToolError } from "@toolhaft/core";
import type { TextCodec } from "./codec.ts";
import { codecOf, refuseBinary } from "./encoding.ts";
import type { FileKind, FileStat, FileSystem, OpenFile } from "./file-system.ts";
import { systemCode, toToolError } from "./system-error.ts";
import { parseText } from "./text-model.ts";
import type { TextFile } from "./types.ts";

const CHUNK = 256 * 1024;

const kindWords: Record<FileKind, string> = {
  file: "a file",
  directory: "a folder",
  link: "a symbolic link",
  fifo: "a named pipe (FIFO)",
  socket: "a socket",
  "block-device": "a block device",
  "character-device": "a character device",
};

/** @throws ToolError `unsupported` naming the kind, for everything that is not a regular file */
export function refuseKind(kind: FileKind, shown: string): void {
  if (kind === "file") return;
  throw new ToolError("unsupported", `${shown} is ${kindWords[kind]}, not a file`, { hint: "name a regular file" });
}

/** Bytes of a file with the facts of the inode they came from. */
export interface FileBytes {
  readonly bytes: Uint8Array;
  readonly stat: FileStat;
}

/** @throws ToolError `unsupported` for other kinds, `too_large` over the limit */
export async function readBytes(files: FileSystem, path: string, shown: string, maxBytes: number): Promise<FileBytes> {
  refuseKind((await files.stat(path)).kind, shown);
  return withFile(files, path, shown, async (file) => {
    const stat = await file.stat();
    refuseKind(stat.kind, shown);
    if (stat.size > maxBytes) throw tooLarge(shown, stat.size, maxBytes);
    return { bytes: await readAll(file, stat.size, shown, maxBytes), stat };
  });
}

export function tooLarge(shown: string, size: number, maxBytes: number): ToolError {
  return new ToolError("too_large", `${shown} holds ${size} bytes, the limit is ${maxBytes}`, {
    hint: "work on a smaller file, or raise maxFileBytes",
  });
}

/** Files may grow and shrink while they are read, and those of /proc tell no size. */
async function readAll(file: OpenFile, size: number, shown: string, maxBytes: number): Promise<Uint8Array> {
  let buffer: Uint8Array = Buffer.allocUnsafeSlow(size);
  let length = 0;
  for (;;) {
    const probe = length === buffer.length ? Buffer.allocUnsafeSlow(length === size ? 1 : CHUNK) : undefined;
    const read = await file.read(probe ?? buffer.subarray(length), length);
    if (read === 0) return buffer.length === length ? buffer : buffer.subarray(0, length);
    if (probe) buffer = Buffer.concat([buffer, probe.subarray(0, read)]);
    length += read;
    if (length > maxBytes) throw tooLarge(shown, length, maxBytes);
  }
}

/** Opens for reading and always closes. */
export async function withFile<T>(
  files: FileSystem,
  path: string,
  shown: string,
  use: (file: OpenFile) => Promise<T>,
): Promise<T> {
  let file: OpenFile;
  try {
    file = await files.open(path, "read");
  } catch (error) {
    if (systemCode(error) === "ENXIO") refuseKind("socket", shown);
    throw toToolError(error, `read ${shown}`);
  }
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

/** SHA-256 in hex, and the number of lines by the line model, of a file of any size. */
export async function digestFile(
  files: FileSystem,
  path: string,
): Promise<{ version: string; lines: number; bytes: number }> {
  return withFile(files, path, path, async (file) => {
    const digest = new Digest();
    const buffer = Buffer.allocUnsafeSlow(CHUNK);
    for (let position = 0; ; ) {
      const read = await file.read(buffer, position);
      if (read === 0) return digest.finish();
      digest.add(buffer.subarray(0, read));
      position += read;
    }
  });
}

/** Version and line count of bytes that come in pieces. */
export class Digest {
  readonly #hash = createHash("sha256");
  #newlines = 0;
  #last = 10;
  #head = Buffer.alloc(0);
  #bytes = 0;

  add(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#hash.update(buffer);
    if (this.#head.length < 3) this.#head = Buffer.concat([this.#head, buffer.subarray(0, 3)]).subarray(0, 3);
    for (let at = buffer.indexOf(10); at >= 0; at = buffer.indexOf(10, at + 1)) this.#newlines++;
    this.#last = buffer[buffer.length - 1] ?? this.#last;
    this.#bytes += buffer.length;
  }

  finish(): { version: string; lines: number; bytes: number } {
    const onlyBom = this.#bytes === 3 && this.#head.equals(Buffer.from([0xef, 0xbb, 0xbf]));
    const lines = onlyBom ? 0 : this.#newlines + (this.#last === 10 ? 0 : 1);
    return { version: this.#hash.copy().digest("hex"), lines, bytes: this.#bytes };
  }
}

export function versionOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export type EncodingOf = (path: string, bytes: Uint8Array) => string | undefined;

/** @throws ToolError `unsupported` for bytes that are no text */
export async function codecFor(
  path: string,
  shown: string,
  bytes: Uint8Array,
  encodingOf: EncodingOf | undefined,
  writing: boolean,
): Promise<TextCodec | undefined> {
  refuseBinary(bytes, shown);
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const label = bom ? undefined : encodingOf?.(path, bytes);
  return label === undefined ? undefined : codecOf(label, shown, writing);
}

export function textFile(
  path: string,
  { bytes, stat }: FileBytes,
  codec: TextCodec | undefined,
  version = versionOf(bytes),
): TextFile {
  return { ...parseText(bytes, codec), path, version, mode: stat.mode };
}
