import { isDeepStrictEqual } from "node:util";
import { parse } from "smol-toml";
import { usageFault } from "../exit-codes.ts";

/** @throws CommandFault for text that is no TOML */
export function readToml(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const [line] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw usageFault(`${file} is no TOML that can be added to (${line}): mend it, or move it away`);
  }
}

/**
 * Appends a table, or puts it in the place of the one of that name; everything else stays byte for byte, which is
 * checked by parsing both.
 *
 * @param name `mcp_servers.toolhaft`, at most one dot.
 */
export function setTomlTable(text: string, name: string, table: Record<string, unknown>, file: string): string {
  const before = readToml(text, file);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const block = [`[${name}]`, ...Object.entries(table).map(([key, value]) => `${key} = ${tomlValue(value)}`)].join(eol);
  const range = tableRange(text, name);
  const after =
    range === undefined
      ? `${text === "" || text.endsWith("\n") ? text : text + eol}${text.trim() === "" ? "" : eol}${block}${eol}`
      : text.slice(0, range.start) + block + eol + text.slice(range.end);
  const [outer = "", inner = ""] = name.split(".");
  const tables = before[outer];
  const expected = { ...before, [outer]: { ...(typeof tables === "object" ? tables : {}), [inner]: table } };
  if (!isDeepStrictEqual(normal(readToml(after, file)), normal(expected)))
    throw usageFault(`${file} writes ${name} in a way that cannot be replaced safely: change it by hand`);
  return after;
}

/** From the table's own head to the next head; its comments above stay, blank lines and comments below it, too. */
function tableRange(text: string, name: string): { start: number; end: number } | undefined {
  const lines = text.split(/(?<=\n)/);
  const heads = new RegExp(`^\\s*\\[\\s*${name.replace(".", "\\s*\\.\\s*")}\\s*(\\.[^\\]]*)?\\]`);
  let start: number | undefined;
  let end = 0;
  let at = 0;
  for (const line of lines) {
    const isHead = /^\s*\[/.test(line);
    if (isHead && heads.test(line)) start ??= at;
    else if (isHead && start !== undefined) break;
    at += line.length;
    if (start !== undefined && line.trim() !== "" && !line.trimStart().startsWith("#")) end = at;
  }
  return start === undefined ? undefined : { start, end };
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  // A JSON string is a TOML basic string, but for DEL.
  return typeof value === "string" ? JSON.stringify(value).replaceAll("\u007f", "\\u007f") : String(value);
}

/** Plain objects, whatever the parser makes them from. */
function normal(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_key, each: unknown) => (typeof each === "bigint" ? Number(each) : each)));
}
