import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { ToolError } from "@toolhaft/core";
import type { FileStat, FileSystem } from "./file-system.ts";
import { isAbsent, systemCode, toToolError } from "./system-error.ts";

/** @throws ToolError `invalid_input` for a path that names nothing, `denied` for one that Windows takes for something else */
export function absolutePath(path: string, directory: string, platform: NodeJS.Platform = process.platform): string {
  if (path === "") throw new ToolError("invalid_input", "the path is empty", { hint: "name a file" });
  if (path.includes("\0"))
    throw new ToolError("invalid_input", "the path holds a NUL character", { hint: "send a plain path" });
  if (!isAbsolute(directory))
    throw new ToolError("invalid_input", `the directory ${directory} is not an absolute path`);
  if (platform === "win32") refuseWindowsNames(path);
  return resolve(directory, path);
}

const windowsDevice = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\s*\.|\s*$)/i;

/** Alternate data streams, device names and device paths are not files of a folder. */
export function refuseWindowsNames(path: string): void {
  const hint = { hint: "name a plain file" };
  if (/^[\\/]{2}[.?][\\/]/.test(path)) throw new ToolError("denied", `${path} is a device path`, hint);
  const rest = path.replace(/^[a-z]:(?=[\\/])/i, "");
  if (rest.includes(":")) throw new ToolError("denied", `${path} names an alternate data stream`, hint);
  const device = rest.split(/[\\/]/).find((part) => windowsDevice.test(part));
  if (device !== undefined) throw new ToolError("denied", `${path} names the device ${device}`, hint);
}

/** Looking at a share sends the user's credentials to whoever runs it, so no gate is asked about one. */
export function refuseForeignShare(path: string, inside: boolean, platform: NodeJS.Platform = process.platform): void {
  if (platform !== "win32" || inside || !/^[\\/]{2}/.test(path)) return;
  throw new ToolError("denied", `${path} is on a network share outside the workspace`, {
    hint: "choose a path inside the workspace",
  });
}

/** Whether `path` is `folder` or lies below it, by component. */
export function isInside(folder: string, path: string): boolean {
  if (path === folder) return true;
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The components of `path` below `folder`; all of them when it lies outside. */
export function componentsBelow(folder: string | undefined, path: string): readonly string[] {
  return (folder === undefined ? path : relative(folder, path)).split(sep).filter((part) => part !== "");
}

/** For people and diffs: relative to `directory` with "/", absolute when outside. */
export function shownPath(path: string, directory: string): string {
  const text = isInside(directory, path) && path !== directory ? relative(directory, path) : path;
  return sep === "/" ? text : text.replaceAll(sep, "/");
}

export interface RealPath {
  readonly path: string;
  /** `undefined` where nothing is there yet. */
  readonly stat: FileStat | undefined;
}

/**
 * The real path of the deepest existing ancestor plus the missing rest.
 *
 * @throws ToolError `denied` for a link that leads nowhere or in a circle
 */
export async function realPath(files: FileSystem, path: string): Promise<RealPath> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      const real = await files.realpath(at);
      if (missing.length > 0) return { path: await belowFolder(files, real, missing, path), stat: undefined };
      return { path: await spelled(files, real, at), stat: await files.stat(real) };
    } catch (error) {
      if (systemCode(error) === "ELOOP")
        throw new ToolError("denied", `the links of ${path} lead in a circle`, { cause: error });
      if (!isAbsent(error)) throw toToolError(error, `look up ${path}`);
    }
    await refuseDangling(files, at, path);
    missing.unshift(basename(at));
    if (dirname(at) === at) throw new ToolError("not_found", `${path} has no existing ancestor`);
  }
}

/** File systems of these platforms take names that differ in case for one. */
export const foldsCase = process.platform === "win32" || process.platform === "darwin";

/** Where case is folded a file keeps the spelling it was asked for by, so that a move can change it. */
async function spelled(files: FileSystem, real: string, given: string): Promise<string> {
  const name = basename(given);
  if (!foldsCase || basename(real) === name || basename(real).toLowerCase() !== name.toLowerCase()) return real;
  return (await files.lstat(given)).kind === "link" ? real : join(dirname(real), name);
}

async function refuseDangling(files: FileSystem, at: string, path: string): Promise<void> {
  try {
    const { kind } = await files.lstat(at);
    if (kind === "link")
      throw new ToolError("denied", `${path} goes through a link that leads nowhere`, {
        hint: "name the place itself",
      });
  } catch (error) {
    if (!isAbsent(error)) throw toToolError(error, `look up ${path}`);
  }
}

async function belowFolder(files: FileSystem, real: string, missing: readonly string[], path: string): Promise<string> {
  if ((await files.stat(real)).kind !== "directory") {
    throw new ToolError("invalid_input", `cannot look up ${path}: ${real} is a file, not a folder`);
  }
  return join(real, ...missing);
}
