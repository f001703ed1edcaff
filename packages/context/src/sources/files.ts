import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { maskSecrets } from "@toolhaft/core";
import { createMatcher, strengths } from "../match.ts";
import type { ContextHit, ContextSource } from "../source.ts";
import { walkFiles } from "./walk.ts";

export interface FilesSourceOptions {
  /** Absolute path. @default the workspace of the call */
  directory?: string;
  weight?: number;
  /** Tool that reads a file, with the parameter that takes the path. @default hashline_read, path */
  reader?: { tool: string; parameter: string };
  limits?: Partial<FileLimits>;
}

export interface FileLimits {
  /** @default 2_000 */
  files: number;
  /** Bytes of all files together. @default 20 MiB */
  bytes: number;
  /** Milliseconds. @default 2_000 */
  time: number;
  /** A larger file is passed over. @default 1 MiB */
  fileBytes: number;
}

const defaultLimits: FileLimits = { files: 2_000, bytes: 20 * 1_048_576, time: 2_000, fileBytes: 1_048_576 };

interface Read {
  path: string;
  text: string;
  modifiedAt: number;
  held: number[];
}

/**
 * Text files of the workspace, without what `.gitignore` names, links, binary files and files whose names speak of
 * secrets. It stops at its limits and says so.
 */
export function filesSource(options: FilesSourceOptions = {}): ContextSource {
  const { weight, reader = { tool: "hashline_read", parameter: "filePath" } } = options;
  const limits = { ...defaultLimits, ...options.limits };
  return {
    name: "files",
    ...(weight !== undefined && { weight }),
    async search({ terms, limit, caller }, signal) {
      const directory = options.directory ?? caller.directory;
      const matcher = createMatcher(terms);
      const end = performance.now() + limits.time;
      const read: Read[] = [];
      let files = 0;
      let bytes = 0;
      let stopped: string | undefined;
      for await (const file of walkFiles(directory, signal)) {
        if (files >= limits.files) stopped = `${limits.files} files`;
        else if (bytes >= limits.bytes) stopped = `${limits.bytes} bytes`;
        else if (performance.now() > end) stopped = `${limits.time} ms`;
        if (stopped !== undefined) break;
        if (file.bytes > limits.fileBytes) continue;
        files++;
        const text = await textOf(join(directory, file.path), signal);
        bytes += file.bytes;
        if (text === undefined) continue;
        const held = strengths([...matcher(text), ...matcher(file.path)], terms.length);
        if (held.some((strength) => strength > 0)) read.push({ ...file, text, held });
      }
      const hits = best(read, limit).map(
        ({ path, text, modifiedAt, score }): ContextHit => ({
          ref: path,
          title: path,
          text: maskSecrets(text),
          score,
          at: modifiedAt,
          follow: { tool: reader.tool, input: { [reader.parameter]: path } },
        }),
      );
      return stopped === undefined
        ? hits
        : { hits, note: `stopped after ${stopped}; what lies beyond was not searched` };
    },
  };
}

/** A word that few files hold counts for more. */
function best(read: readonly Read[], limit: number): (Read & { score: number })[] {
  const holding = (term: number) => read.filter(({ held }) => (held[term] ?? 0) > 0).length;
  const rarity = (read[0]?.held ?? []).map((_, term) => Math.log(1 + (read.length + 1) / (holding(term) + 0.5)));
  return read
    .map((file) => ({ ...file, score: file.held.reduce((sum, one, term) => sum + one * (rarity[term] ?? 0), 0) }))
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    .slice(0, limit);
}

/** Undefined for what is no text, or is gone or closed to us by now. */
async function textOf(path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const bytes = await readFile(path, { signal });
    if (bytes.subarray(0, 8_192).includes(0)) return undefined;
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (signal.aborted) throw error;
    // One file that cannot be read is passed over, as a search tool does; the folder itself failing is an error.
    return undefined;
  }
}
