import { isDeepStrictEqual } from "node:util";
import { createScanner, findNodeAtLocation, type Node, type ParseError, parse, parseTree } from "jsonc-parser";
import { usageFault } from "../exit-codes.ts";

// jsonc-parser's token kinds, which are declared as a const enum.
const comma = 5;
const lineComment = 12;
const blockComment = 13;
const lineBreak = 14;
const trivia = 15;
const options = { allowTrailingComma: true };

/** The value at a path of a JSON text with comments; undefined where nothing stands. @throws for text that is no object */
export function readJson(text: string, file: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, options);
  if (errors.length > 0 || typeof value !== "object" || value === null || Array.isArray(value))
    throw usageFault(`${file} is no JSON object that can be added to: mend it, or move it away`);
  return value;
}

/**
 * Sets one value and leaves every other byte as it is: comments, order, indentation, line ends.
 *
 * @param text Empty for a new file.
 */
export function setJson(text: string, path: readonly string[], value: unknown, file: string): string {
  const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const body = text.slice(bom.length);
  const blank = body.trim() === "";
  const before = blank ? {} : readJson(body, file);
  const after = edited(blank ? "{}\n" : body, path, value, file);
  if (!isDeepStrictEqual(readJson(after, file), assigned(before, path, value)))
    throw usageFault(`${file} is written in a way that cannot be added to safely: add the entry by hand`);
  return bom + after;
}

function edited(text: string, path: readonly string[], value: unknown, file: string): string {
  const root = parseTree(text, [], options);
  if (root === undefined) throw usageFault(`${file} is no JSON object`);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = indentOf(text, root);
  const lines = (content: unknown, depth: number) =>
    JSON.stringify(content, null, unit)
      .split("\n")
      .join(`${eol}${unit.repeat(depth)}`);
  const present = findNodeAtLocation(root, [...path]);
  if (present !== undefined) {
    const end = present.offset + present.length;
    return text.slice(0, present.offset) + lines(value, path.length) + text.slice(end);
  }
  // The deepest object on the way that is there takes the rest.
  let depth = path.length - 1;
  let parent = findNodeAtLocation(root, path.slice(0, depth));
  while (parent === undefined && depth > 0) parent = findNodeAtLocation(root, path.slice(0, --depth));
  if (parent === undefined || parent.type !== "object")
    throw usageFault(`${file}: ${path.slice(0, depth).join(".")} is no object`);
  const inner = path.slice(depth + 1).reduceRight<unknown>((content, key) => ({ [key]: content }), value);
  const property = `${JSON.stringify(path[depth])}: ${lines(inner, depth + 1)}`;
  return withProperty(text, parent, property, eol, unit, depth);
}

function withProperty(text: string, parent: Node, property: string, eol: string, unit: string, depth: number): string {
  const start = eol + unit.repeat(depth + 1);
  const close = parent.offset + parent.length - 1;
  const closing = eol + unit.repeat(depth);
  const last = parent.children?.at(-1);
  if (last === undefined) {
    const inside = text.slice(parent.offset + 1, close).trimEnd();
    return text.slice(0, parent.offset + 1) + inside + start + property + closing + text.slice(close);
  }
  const end = last.offset + last.length;
  const { commaEnd, lineEnd } = restOfLine(text, end, close);
  const separator = commaEnd === undefined ? "," : "";
  const tail = commaEnd === undefined ? "" : ",";
  const insertAt = lineEnd ?? commaEnd ?? end;
  const rest = text.slice(insertAt);
  // The closing brace of an object on one line gets a line of its own.
  const gap = rest.slice(0, close - insertAt).includes("\n") ? "" : closing;
  return (
    text.slice(0, end) +
    separator +
    text.slice(end, insertAt) +
    start +
    property +
    tail +
    gap +
    (gap === "" ? rest : rest.trimStart())
  );
}

/** Where the comma after a property ends, and where the line ends when only comments follow on it. */
function restOfLine(text: string, from: number, close: number): { commaEnd?: number; lineEnd?: number } {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  const found: { commaEnd?: number; lineEnd?: number } = {};
  for (;;) {
    const token: number = scanner.scan();
    const at = scanner.getTokenOffset();
    if (at >= close) return found;
    if (token === comma) found.commaEnd = at + 1;
    else if (token === lineBreak) {
      found.lineEnd ??= at;
      if (found.commaEnd !== undefined) return found;
    } else if (token !== lineComment && token !== blockComment && token !== trivia) return found;
  }
}

function indentOf(text: string, root: Node): string {
  const first = root.children?.[0];
  if (first === undefined) return "  ";
  const lineStart = text.lastIndexOf("\n", first.offset - 1) + 1;
  const indent = text.slice(lineStart, first.offset);
  return indent !== "" && indent.trim() === "" ? indent : "  ";
}

function assigned(value: unknown, [key, ...rest]: readonly string[], leaf: unknown): unknown {
  if (key === undefined) return leaf;
  const object: Record<string, unknown> = typeof value === "object" && value !== null ? { ...value } : {};
  return { ...object, [key]: assigned(object[key], rest, leaf) };
}
