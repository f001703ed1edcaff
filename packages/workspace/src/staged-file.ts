import { join } from "node:path";
import { ToolError } from "@toolhaft/core";
import type { FileSystem, OpenFile } from "./file-system.ts";
import { Digest } from "./read-file.ts";
import { closing, removeFile, writeAll } from "./small-file.ts";
import { toToolError } from "./system-error.ts";
import type { StagedFile } from "./types.ts";

/** What a commit needs of a staged file. */
export interface StagedSource {
  readonly path: string;
  digest(): { version: string; lines: number; bytes: number };
  /** Closes it for good before it is put in place. */
  seal(): Promise<void>;
  /** Forgets the file after a commit took it over. */
  discard(): Promise<void>;
}

/** The staged files of one workspace that are neither adopted nor discarded. */
export class StagedFiles {
  readonly #files: FileSystem;
  readonly #open = new Map<StagedFile, StagedSource>();

  constructor(files: FileSystem) {
    this.#files = files;
  }

  async create(folder: string, name: string): Promise<StagedFile> {
    const path = join(folder, name);
    const file = await this.#files.open(path, "create", 0o600);
    const staged = this.#staged(path, file);
    return staged;
  }

  sourceOf(staged: StagedFile): StagedSource | undefined {
    return this.#open.get(staged);
  }

  async discardAll(): Promise<void> {
    for (const staged of [...this.#open.keys()]) await staged.discard();
  }

  #staged(path: string, file: OpenFile): StagedFile {
    const files = this.#files;
    const open = this.#open;
    const digest = new Digest();
    let bytes = 0;
    let sealed = false;
    /** A failed append may have left part of its chunk. */
    let torn = false;
    let writing: Promise<void> = Promise.resolve();

    const seal = async () => {
      if (sealed) return;
      sealed = true;
      await writing.catch(() => undefined);
      await closing(file, async () => {
        if (torn) await file.truncate(bytes);
      });
    };
    const discard = async () => {
      if (!open.delete(staged)) return;
      await seal();
      await removeFile(files, path);
    };
    const write = async (chunk: Uint8Array) => {
      if (sealed) throw new ToolError("internal", "the staged file is closed: nothing can be appended");
      try {
        await writeAll(file, chunk, bytes);
      } catch (error) {
        torn = true;
        throw toToolError(error, "stage a file");
      }
      digest.add(chunk);
      bytes += chunk.length;
    };
    const staged: StagedFile = {
      path,
      get bytes() {
        return bytes;
      },
      append(chunk) {
        const next = writing.catch(() => undefined).then(() => write(chunk));
        writing = next;
        next.catch(() => undefined);
        return next;
      },
      discard,
    };
    open.set(staged, { path, digest: () => digest.finish(), seal, discard });
    return staged;
  }
}
