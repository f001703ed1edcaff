import type { Transform } from "node:stream";
import type * as Zlib from "node:zlib";
import { ToolError } from "@toolhaft/core";
import type { Deadline } from "./deadline.ts";
import type { Exchange } from "./exchange.ts";

/** What is left of an unread body up to this size is read, so that the connection can be used again. */
const drainBytes = 64 * 1024;
const chunkSize = 64 * 1024;
const maxEncodings = 2;
/** RFC 8878 recommends decoders to support 8 MiB; the library's own default would take 128 MiB of memory. */
const zstdWindowLog = 23;

/** The body ended early; `prefix` takes what came. */
export class CutBody extends ToolError {}

export interface BodyLimits {
  maxBytes: number;
  maxWireBytes: number;
}

export interface Body {
  stream: AsyncIterable<Uint8Array>;
  bytes(): Promise<Uint8Array>;
  prefix(limit: number): Promise<{ bytes: Uint8Array; complete: boolean }>;
  discard(): Promise<void>;
  sizes(): { wire: number; decoded: number };
}

/** Encodings this runtime can undo, as `Accept-Encoding` says it. */
export async function acceptEncoding(): Promise<string> {
  const zlib = await import("node:zlib");
  return "createZstdDecompress" in zlib ? "gzip, deflate, br, zstd" : "gzip, deflate, br";
}

function encodingsOf(headers: ReadonlyMap<string, string>): string[] {
  const listed = (headers.get("content-encoding") ?? "").split(",").map((name) => name.trim().toLowerCase());
  return listed.filter((name) => name !== "" && name !== "identity");
}

function unsupported(name: string): ToolError {
  return new ToolError(
    "unsupported",
    `the response is encoded as "${name.slice(0, 40)}", which cannot be decoded here`,
    {
      hint: "ask the site for another form of the page",
      details: { encoding: name.slice(0, 40) },
    },
  );
}

/** Node has it from 22.15 on; the types of Node 20 do not know it. */
interface WithZstd {
  createZstdDecompress(options: { chunkSize: number; params: Record<number, number> }): Transform;
  constants: { ZSTD_d_windowLogMax: number };
}

const hasZstd = (zlib: object): zlib is WithZstd => "createZstdDecompress" in zlib;

function decoder(zlib: typeof Zlib, name: string, first: Uint8Array): Transform {
  switch (name) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip({ chunkSize });
    case "deflate": {
      // Half of the servers mean RFC 1950, half RFC 1951; the first two bytes tell.
      const [a = 0, b = 0] = first;
      return (a & 0x0f) === 8 && ((a << 8) | b) % 31 === 0
        ? zlib.createInflate({ chunkSize })
        : zlib.createInflateRaw({ chunkSize });
    }
    case "br":
      return zlib.createBrotliDecompress({ chunkSize });
    default:
      if (name === "zstd" && hasZstd(zlib)) {
        return zlib.createZstdDecompress({
          chunkSize,
          params: { [zlib.constants.ZSTD_d_windowLogMax]: zstdWindowLog },
        });
      }
      throw unsupported(name);
  }
}

/** Undoes one encoding. Output comes in pieces of 64 KiB and only as fast as it is taken. */
async function* decode(name: string, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const zlib = await import("node:zlib");
  const { pipeline, Readable } = await import("node:stream");
  const input = source[Symbol.asyncIterator]();
  const first = await input.next();
  if (first.done === true) return;
  let head = first.value;
  if (name === "deflate" && head.length < 2) {
    const second = await input.next();
    if (second.done !== true) head = Buffer.concat([head, second.value]);
  }
  const transform = decoder(zlib, name, head);
  let wire: unknown;
  async function* fed(): AsyncGenerator<Uint8Array> {
    try {
      yield head;
      for (let next = await input.next(); next.done !== true; next = await input.next()) yield next.value;
    } catch (error) {
      wire = error;
      throw error;
    }
  }
  // The callback only keeps the pipeline's error from being thrown twice: the loop below meets it as well.
  const output = pipeline(Readable.from(fed()), transform, () => undefined);
  try {
    for await (const chunk of output) yield chunk;
  } catch (error) {
    if (wire !== undefined) throw wire;
    if (error instanceof ToolError) throw error;
    throw new CutBody("upstream", `the ${name} data of the response is damaged or cut`, { cause: error });
  } finally {
    transform.destroy();
  }
}

/** Whether an answer has a body at all. */
const bodiless = (method: string, status: number): boolean => method === "HEAD" || status === 204 || status === 304;

/**
 * The body of an answer: counted before and after every decoder, never longer than its limits.
 *
 * @throws ToolError `unsupported` for an encoding that is unknown, or for more than two
 */
export function createBody(source: Exchange, method: string, limits: BodyLimits, deadline: Deadline): Body {
  const encodings = encodingsOf(source.headers);
  const empty = bodiless(method, source.status);
  const announced = announcedLength(source.headers);
  const count = { wire: 0, decoded: 0 };
  let taken = false;
  let stopped: ToolError | undefined;

  if (!empty && encodings.length > maxEncodings) {
    const error = unsupported(encodings.join(", "));
    source.abort(error);
    throw error;
  }

  function tooLarge(): ToolError {
    const { wire, decoded } = count;
    const shown =
      announced !== undefined && announced > limits.maxWireBytes
        ? `${announced} bytes announced`
        : `${wire} bytes received, ${decoded} decoded`;
    stopped = new ToolError(
      "too_large",
      `the body is larger than the limit (${shown}; limit ${Math.min(limits.maxBytes, limits.maxWireBytes)})`,
      {
        hint: "use download_file for large files",
        details: {
          wireBytes: wire,
          decodedBytes: decoded,
          maxBytes: limits.maxBytes,
          ...(announced === undefined ? {} : { announcedBytes: announced }),
        },
      },
    );
    source.abort(stopped);
    return stopped;
  }

  /** The next piece as it arrives, counted. */
  async function piece(): Promise<Uint8Array | undefined> {
    let chunk: Uint8Array | undefined;
    try {
      chunk = await source.read();
    } catch (error) {
      deadline.throwIfEnded();
      if (stopped !== undefined) throw stopped;
      const ending =
        announced === undefined ? `after ${count.wire} bytes` : `after ${count.wire} of ${announced} bytes`;
      throw new CutBody("upstream", `the body ended ${ending}`, {
        retryable: true,
        details: { wireBytes: count.wire },
        cause: error,
      });
    }
    if (chunk !== undefined) {
      count.wire += chunk.length;
      if (count.wire > limits.maxWireBytes) throw tooLarge();
    }
    return chunk;
  }

  function start(capped: boolean): void {
    if (taken) throw new TypeError("the body of a response can be read once");
    taken = true;
    deadline.enter("the body");
    if (capped && announced !== undefined && announced > limits.maxWireBytes && !empty) throw tooLarge();
  }

  async function* wire(): AsyncGenerator<Uint8Array> {
    for (let chunk = await piece(); chunk !== undefined; chunk = await piece()) yield chunk;
  }

  async function* decoded(capped: boolean): AsyncGenerator<Uint8Array> {
    start(capped);
    if (empty) return;
    let pieces: AsyncIterable<Uint8Array> = wire();
    let inner = false;
    for (const name of encodings.toReversed()) {
      pieces = decode(name, inner ? bounded(pieces) : pieces);
      inner = true;
    }
    let finished = false;
    try {
      for await (const part of pieces) {
        count.decoded += part.length;
        if (count.decoded > limits.maxBytes) throw tooLarge();
        yield part;
      }
      finished = true;
    } finally {
      if (!finished) source.abort(stopped ?? new ToolError("cancelled", "the rest of the body was not wanted"));
    }
  }

  /** Between two decoders: a bomb may unfold in the first one. */
  async function* bounded(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > limits.maxBytes) throw tooLarge();
      yield piece;
    }
  }

  async function bytes(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    if (empty || encodings.length > 0) {
      for await (const part of decoded(true)) pieces.push(part);
    } else {
      // The usual case, without the cost of two generators.
      start(true);
      for (let chunk = await piece(); chunk !== undefined; chunk = await piece()) {
        pieces.push(chunk);
        count.decoded += chunk.length;
        if (count.decoded > limits.maxBytes) throw tooLarge();
      }
    }
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }

  async function prefix(limit: number): Promise<{ bytes: Uint8Array; complete: boolean }> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    let complete = true;
    try {
      for await (const piece of decoded(false)) {
        const room = limit - length;
        pieces.push(piece.length > room ? piece.subarray(0, room) : piece);
        length += Math.min(piece.length, room);
        if (piece.length > room) {
          complete = false;
          break;
        }
      }
    } catch (error) {
      const overWire = error instanceof ToolError && error.code === "too_large";
      if (!(error instanceof CutBody) && !overWire) throw error;
      complete = false;
    }
    return { bytes: Buffer.concat(pieces), complete };
  }

  async function discard(): Promise<void> {
    if (taken) return;
    taken = true;
    if (empty) return;
    let left = drainBytes;
    if (announced !== undefined && announced > drainBytes) left = 0;
    try {
      while (left > 0) {
        const chunk = await source.read();
        if (chunk === undefined) return;
        left -= chunk.length;
      }
      source.abort(new ToolError("cancelled", "the rest of the body was not wanted"));
    } catch (error) {
      // Nobody wants this body: whatever cut it short is as good as its end.
      source.abort(error instanceof Error ? error : new Error(String(error)));
    }
  }

  return {
    stream: { [Symbol.asyncIterator]: () => decoded(true) },
    bytes,
    prefix,
    discard,
    sizes: () => ({ ...count }),
  };
}

function announcedLength(headers: ReadonlyMap<string, string>): number | undefined {
  const text = headers.get("content-length");
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
