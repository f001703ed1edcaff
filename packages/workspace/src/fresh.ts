import type { FileState } from "@toolhaft/core";
import { ToolError } from "@toolhaft/core";
import type { Target } from "./access.ts";
import type { TextCodec } from "./codec.ts";
import type { FileStat, FileSystem } from "./file-system.ts";
import type { Known } from "./journal.ts";
import {
  codecFor,
  digestFile,
  type EncodingOf,
  readBytes,
  refuseKind,
  textFile,
  tooLarge,
  versionOf,
} from "./read-file.ts";
import { systemCode, toToolError } from "./system-error.ts";
import { parseText } from "./text-model.ts";
import type { TextFile } from "./types.ts";

/** A path of a commit as it is under the locks. */
export interface Fresh {
  readonly target: Target;
  /** The path for diffs: the real one, relative to the scope's directory. */
  readonly diffPath: string;
  readonly stat: FileStat | undefined;
  readonly bytes: Uint8Array | undefined;
  /** How its text is decoded where that is not UTF-8. */
  readonly codec: TextCodec | undefined;
  /** When it was read, in milliseconds since the epoch. */
  readonly readAt: number;
  /** @throws ToolError for a folder and for what is no text; `undefined` for an absent file */
  text(): TextFile | undefined;
  /** What the file holds, of any kind and size. */
  known(): Promise<Known>;
}

export interface FreshOptions {
  readonly files: FileSystem;
  readonly maxFileBytes: number;
  readonly encodingOf: EncodingOf | undefined;
}

/** Reads a path for a commit. What cannot be read as text is told when it is asked for. */
export async function readFresh(options: FreshOptions, target: Target, diffPath: string): Promise<Fresh> {
  const { files, maxFileBytes, encodingOf } = options;
  const { path, shown, stat } = target;
  const readAt = Date.now();
  if (stat?.kind !== "file" || stat.size > maxFileBytes) {
    return {
      target,
      diffPath,
      stat,
      bytes: undefined,
      codec: undefined,
      readAt,
      text() {
        if (!stat) return undefined;
        refuseKind(stat.kind, shown);
        throw tooLarge(shown, stat.size, maxFileBytes);
      },
      async known() {
        if (!stat) throw new ToolError("internal", `${shown} does not exist`);
        return { ...(await digestFile(files, path)), mode: stat.mode, ...identityOf(stat) };
      },
    };
  }
  const found = await readBytes(files, path, shown, maxFileBytes).catch((error: unknown) => {
    throw systemCode(error) === undefined ? error : toToolError(error, `read ${shown}`);
  });
  let version: string | undefined;
  const knownVersion = () => {
    version ??= versionOf(found.bytes);
    return version;
  };
  const codec = await codecFor(path, shown, found.bytes, encodingOf, true).catch((error: unknown) =>
    toToolError(error, `read ${shown}`),
  );
  let text: TextFile | undefined;
  return {
    target,
    diffPath,
    stat: found.stat,
    bytes: found.bytes,
    codec: codec instanceof ToolError ? undefined : codec,
    readAt,
    text() {
      if (codec instanceof ToolError) throw codec;
      text ??= textFile(path, found, codec, knownVersion());
      return text;
    },
    async known() {
      return { ...stateOf(found.bytes, found.stat.mode, knownVersion()), ...identityOf(found.stat) };
    },
  };
}

export function stateOf(bytes: Uint8Array, mode: number, version = versionOf(bytes), codec?: TextCodec): FileState {
  return { version, bytes: bytes.length, lines: parseText(bytes, codec).lineCount, mode };
}

function identityOf(stat: FileStat): Pick<Known, "dev" | "ino" | "mtimeNs" | "ctimeNs"> {
  return {
    dev: String(stat.dev),
    ino: String(stat.ino),
    mtimeNs: String(stat.mtimeNs),
    ctimeNs: String(stat.ctimeNs),
  };
}

/** The files of a plan, under the paths its caller gave. Looking at one that is no text throws. */
export class FreshFiles implements ReadonlyMap<string, TextFile | undefined> {
  readonly #files: ReadonlyMap<string, Fresh>;

  constructor(files: ReadonlyMap<string, Fresh>) {
    this.#files = files;
  }

  get size(): number {
    return this.#files.size;
  }

  get(path: string): TextFile | undefined {
    return this.#files.get(path)?.text();
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  keys(): MapIterator<string> {
    return this.#files.keys();
  }

  *entries(): MapIterator<[string, TextFile | undefined]> {
    for (const [path, file] of this.#files) yield [path, file.text()];
  }

  *values(): MapIterator<TextFile | undefined> {
    for (const file of this.#files.values()) yield file.text();
  }

  [Symbol.iterator](): MapIterator<[string, TextFile | undefined]> {
    return this.entries();
  }

  forEach(
    use: (file: TextFile | undefined, path: string, map: ReadonlyMap<string, TextFile | undefined>) => void,
  ): void {
    for (const [path, file] of this.entries()) use(file, path, this);
  }
}
