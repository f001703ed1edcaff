import { realpathSync } from "node:fs";
import { dirname, isAbsolute, join, posix, relative, sep, win32 } from "node:path";

/** Characters a `file:` URI may hold bare (RFC 3986 unreserved, and `/`). Servers disagree on the rest, so all is encoded. */
function encode(path: string): string {
  return path
    .split("/")
    .map(encodeURIComponent)
    .join("/")
    .replace(/[!'()*]/g, percent);
}

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** The `file:` URI of an absolute path. */
export function pathToUri(path: string, windows = process.platform === "win32"): string {
  if (!windows) return `file://${encode(path)}`;
  const slashed = path.replaceAll("\\", "/");
  if (slashed.startsWith("//")) return `file:${encode(slashed).replace("%3A", ":")}`;
  const drive = slashed.slice(0, 1).toLowerCase();
  return `file:///${drive}%3A${encode(slashed.slice(2))}`;
}

/** The path of a `file:` URI, however it is spelt; `undefined` for other schemes. */
export function uriToPath(uri: string, windows = process.platform === "win32"): string | undefined {
  const match = /^file:\/\/([^/]*)(\/[^?#]*)/i.exec(uri);
  if (match === null) return undefined;
  const [, host = "", encoded = ""] = match;
  const path = decode(encoded);
  if (!windows) return path;
  if (host !== "" && host.toLowerCase() !== "localhost") return win32.normalize(`\\\\${host}${path}`);
  const drive = /^\/([a-z]):(.*)$/i.exec(path);
  return drive ? win32.normalize(`${drive[1]?.toLowerCase()}:${drive[2] || "/"}`) : win32.normalize(path);
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded; // a bare percent sign: some servers do not encode at all
  }
}

/** One key for all spellings of one URI: decoded path, small drive letter. Foreign schemes stand for themselves. */
export function uriKey(uri: string, windows = process.platform === "win32"): string {
  const path = uriToPath(uri, windows);
  if (path === undefined) return uri;
  return windows ? win32.normalize(path) : posix.normalize(path);
}

/** The real path of the deepest ancestor that exists, plus the rest. */
export function realPathOf(path: string): string {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(realpathSync.native(at), ...missing);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
      if (dirname(at) === at) return path;
      missing.unshift(at.slice(dirname(at).length).replace(/^[\\/]/, ""));
    }
  }
}

/** Whether `path` is `folder` or lies below it; both absolute and normal. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** How a path is shown: relative to the directory with `/` when it lies below it, else absolute. */
export function shownPath(directory: string, path: string): string {
  if (!isInside(directory, path)) return path;
  const way = relative(directory, path);
  return way === "" ? "." : way.split(sep).join("/");
}
