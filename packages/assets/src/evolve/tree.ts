import { createHash } from "node:crypto";
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@toolhaft/core";
import { codeOf } from "../stores/directory/disk.ts";
import { readRegular } from "../stores/directory/read-bytes.ts";

export interface TreeFile {
  bytes: Buffer;
  /** Permission bits. */
  mode: number;
}

/** All files of a skill by their paths below its folder. */
export type Tree = ReadonlyMap<string, TreeFile>;

export const mostTreeFiles = 200;
export const mostTreeBytes = 20 * 1024 * 1024;

/**
 * Reads all files of a skill's folder; an absent folder is an empty tree.
 *
 * @throws ToolError `too_large`, `unavailable`
 */
export function readTree(folder: string): { tree: Map<string, TreeFile>; odd: string[] } {
  const tree = new Map<string, TreeFile>();
  const odd: string[] = [];
  let total = 0;
  const visit = (at: string, prefix: string): void => {
    for (const entry of entriesOf(at)) {
      const path = prefix + entry.name;
      if (entry.isDirectory()) visit(join(at, entry.name), `${path}/`);
      else if (!entry.isFile()) odd.push(path);
      else {
        const read = readRegular(join(at, entry.name), mostTreeBytes);
        if (!read.ok) {
          if (read.tooLarge !== undefined) throw tooLarge(`${path} has ${read.tooLarge} bytes`);
          throw new ToolError("unavailable", `${path}: ${read.reason}`, {
            hint: "make the file readable, then call again",
          });
        }
        total += read.bytes.length;
        tree.set(path, { bytes: read.bytes, mode: Number(read.stat.mode) & 0o7777 });
        checkSize(tree.size, total);
      }
    }
  };
  visit(folder, "");
  return { tree: sorted(tree), odd };
}

/** @throws ToolError `too_large` */
export function checkTree(tree: Tree): void {
  checkSize(
    tree.size,
    [...tree.values()].reduce((sum, { bytes }) => sum + bytes.length, 0),
  );
}

function checkSize(files: number, bytes: number): void {
  if (files > mostTreeFiles) throw tooLarge(`the skill has ${files} files`);
  if (bytes > mostTreeBytes) throw tooLarge(`the skill has ${bytes} bytes`);
}

function tooLarge(what: string): ToolError {
  return new ToolError(
    "too_large",
    `${what}; a skill that is changed here has at most ${mostTreeFiles} files and ${mostTreeBytes} bytes`,
    {
      hint: "split the skill, or change it by hand",
    },
  );
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return [];
    throw new ToolError("unavailable", `${folder} cannot be read: ${code}`, { hint: "make the folder readable" });
  }
}

export function sorted(tree: ReadonlyMap<string, TreeFile>): Map<string, TreeFile> {
  return new Map([...tree].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** One hash over paths, modes and contents. */
export function treeHash(tree: Tree): string {
  const hash = createHash("sha256");
  for (const [path, { bytes, mode }] of sorted(tree))
    hash.update(`${path}\0${(mode & 0o777).toString(8)}\0${sha256(bytes)}\n`);
  return hash.digest("hex");
}

/** Whether anything is at a path, without following a link. */
export function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
