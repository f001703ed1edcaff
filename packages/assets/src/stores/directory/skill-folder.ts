import { closeSync, constants, type Dirent, lstatSync, openSync, readdirSync, readSync, realpathSync } from "node:fs";
import { extname, join } from "node:path";
import { nearest, ToolError } from "@toolhaft/core";
import { checkedParts, isInside } from "../../paths.ts";
import type { SkillFile } from "../../store.ts";
import { codeOf } from "./disk.ts";
import { slashes } from "./roots.ts";

const deepest = 16;

/** Files of a skill's folder, sorted; links are not followed. */
export function listSkillFiles(folder: string, signal?: AbortSignal): SkillFile[] {
  const files: SkillFile[] = [];
  const visit = (at: string, prefix: string, depth: number): void => {
    if (signal?.aborted) throw new ToolError("cancelled", "the call was stopped");
    for (const entry of entriesOf(at)) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) {
        if (depth < deepest && entry.name !== ".git" && entry.name !== "node_modules")
          visit(path, `${prefix}${entry.name}/`, depth + 1);
      } else if (entry.isFile()) {
        const stat = lstatSync(path, { throwIfNoEntry: false });
        if (stat) files.push({ path: prefix + entry.name, bytes: stat.size, text: looksLikeText(path) });
      }
    }
  };
  visit(folder, "", 1);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    codeOf(error);
    return [];
  }
}

const binaryExtension =
  /^\.(?:png|jpe?g|gif|webp|ico|pdf|zip|gz|tgz|xz|zst|7z|jar|wasm|exe|dll|so|dylib|woff2?|ttf|otf|mp[34]|docx|xlsx|pptx|sqlite|db)$/i;

function looksLikeText(path: string): boolean {
  if (binaryExtension.test(extname(path))) return false;
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const head = Buffer.alloc(4_096);
      return !head.subarray(0, readSync(file, head, 0, head.length, 0)).includes(0);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    codeOf(error);
    return false;
  }
}

/**
 * The real path of a file of a skill.
 *
 * @throws ToolError `denied` for one that leaves the folder, `invalid_input`, `not_found`
 */
export function locateSkillFile(folder: string, path: string, skill: string): string {
  const parts = checkedParts(path);
  const wanted = join(folder, ...parts);
  let real: string;
  try {
    real = realpathSync.native(wanted);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOENT" && code !== "ENOTDIR")
      throw new ToolError("denied", `${path} of ${skill} cannot be reached (${code})`);
    refuseLinkOut(folder, parts, path, skill);
    const known = listSkillFiles(folder).map((file) => file.path);
    const near = nearest(parts.join("/"), known, 5);
    throw new ToolError("not_found", `skill ${skill} has no file ${path}`, {
      hint: near.length > 0 ? `did you mean ${near.join(", ")}?` : "list_skill_files shows what there is",
      details: { near },
    });
  }
  if (!isInside(realpathSync.native(folder), real)) throw leaves(path, skill, real);
  if (lstatSync(real).isDirectory())
    throw new ToolError("invalid_input", `${path} of ${skill} is a folder`, {
      hint: `list_skill_files shows what is in it`,
    });
  return real;
}

/** A link that leads nowhere must not look like a missing file when it points outside. */
function refuseLinkOut(folder: string, parts: readonly string[], path: string, skill: string): void {
  let at = folder;
  for (const part of parts) {
    at = join(at, part);
    const stat = lstatSync(at, { throwIfNoEntry: false });
    if (!stat) return;
    if (!stat.isSymbolicLink()) continue;
    try {
      const real = realpathSync.native(at);
      if (!isInside(realpathSync.native(folder), real)) throw leaves(path, skill, real);
    } catch (error) {
      if (error instanceof ToolError) throw error;
      throw new ToolError("denied", `${path} of ${skill} goes through a link that leads nowhere (${codeOf(error)})`, {
        hint: "links are not followed out of a skill",
      });
    }
  }
}

function leaves(path: string, skill: string, real: string): ToolError {
  return new ToolError("denied", `${path} of ${skill} leads to ${slashes(real)}, outside the skill's folder`, {
    hint: "files of a skill lie below its folder; links that leave it are not followed",
  });
}

/** Links below a folder that lead out of it, relative to it. */
export function linksOut(folder: string): { path: string; target: string }[] {
  const found: { path: string; target: string }[] = [];
  const real = realpathSync.native(folder);
  const visit = (at: string, prefix: string, depth: number): void => {
    for (const entry of entriesOf(at)) {
      const path = join(at, entry.name);
      if (entry.isDirectory() && depth < deepest) visit(path, `${prefix}${entry.name}/`, depth + 1);
      else if (entry.isSymbolicLink()) {
        const target = targetOf(path);
        if (target === undefined || !isInside(real, target))
          found.push({ path: prefix + entry.name, target: target ?? "nowhere" });
      }
    }
  };
  visit(folder, "", 1);
  return found;
}

function targetOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    codeOf(error);
    return undefined;
  }
}
