import { isAbsolute, sep } from "node:path";
import { ToolError } from "@toolhaft/core";

/** Whether `path` is `folder` or lies below it, by component. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(belowOf(folder));
}

/** What the paths below a folder begin with. */
function belowOf(folder: string): string {
  return folder.endsWith(sep) ? folder : folder + sep;
}

/** Relative to the directory with "/", absolute outside. */
export function shownPath(path: string, directory: string): string {
  // Cut, not asked of `relative`: a catalog shows thousands of paths that are normal already.
  const text = isInside(directory, path) && path !== directory ? path.slice(belowOf(directory).length) : path;
  return sep === "/" ? text : text.replaceAll(sep, "/");
}

/**
 * The parts of a path below a folder, as a tool was given it.
 *
 * @throws ToolError `invalid_input`, or `denied` for one that leaves the folder
 */
export function checkedParts(path: string): string[] {
  const hint = { hint: "give a path below the skill's folder, such as references/guide.md" };
  if (path.trim() === "") throw new ToolError("invalid_input", "path: it is empty", hint);
  if (path.includes("\0")) throw new ToolError("invalid_input", "path: it holds a NUL character", hint);
  if (path.includes("\\"))
    throw new ToolError("invalid_input", `path: "${path}" holds a backslash; parts are separated by /`, hint);
  if (isAbsolute(path) || /^[A-Za-z]:/.test(path)) throw new ToolError("denied", `path: ${path} is absolute`, hint);
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw new ToolError("denied", `path: ${path} leaves the skill's folder`, hint);
  if (parts.length === 0) throw new ToolError("invalid_input", `path: "${path}" names no file`, hint);
  return parts;
}
