import { type Document, isAlias, isCollection, isMap, isNode, isPair, isScalar, parseDocument, visit } from "yaml";
import { type Position, positionsIn } from "./positions.ts";
import type { Problem } from "./problem.ts";

/** Bytes of frontmatter; more is no header any more. */
const mostBytes = 64 * 1024;
const mostAliases = 50;
const deepest = 20;

/**
 * The head of a file, kept as a YAML document so that an edit leaves comments, order and quoting alone. Offsets are
 * UTF-16 units of the whole text.
 */
export interface FrontmatterDocument {
  /** The whole text. */
  readonly text: string;
  /** The YAML between the fences; an empty span where there is none. */
  readonly yaml: { readonly start: number; readonly end: number };
  /** Where the body begins. */
  readonly bodyStart: number;
  /** Absent when the file has no frontmatter, or one that does not parse. */
  readonly document?: Document.Parsed;
  readonly problems: readonly Problem[];
  /** Plain data; an empty object when nothing could be parsed. */
  readonly data: Readonly<Record<string, unknown>>;
  positionOf(offset: number): Position;
  /** Where the value at a path of keys stands, or its nearest parent that stands anywhere. */
  locate(path: readonly (string | number)[]): Position;
  /** Source span of the value at a path. */
  span(path: readonly (string | number)[]): { start: number; end: number } | undefined;
  /** Source span of a key. */
  keySpan(path: readonly (string | number)[]): { start: number; end: number } | undefined;
}

const opening = /^\ufeff?---[ \t]*(?:\r?\n|$)/;
const closing = /^---[ \t]*\r?$/gm;

/** Reads frontmatter: `---` as the first line to the next `---` line. No other language than YAML is recognised. */
export function parseFrontmatter(text: string): FrontmatterDocument {
  const start = opening.exec(text)?.[0].length;
  if (start === undefined) {
    const odd = /^\ufeff?---[^\s-]/.test(text);
    return failed(text, { start: 0, end: 0 }, text.startsWith("\ufeff") ? 1 : 0, {
      rule: "frontmatter_missing",
      message: odd
        ? `the first line "${firstLine(text)}" opens no frontmatter: it must be exactly ---`
        : text.trim() === ""
          ? "the file is empty"
          : "the file does not begin with frontmatter",
      hint: "begin the file with a line ---, then the keys in YAML, then a line ---",
      line: 1,
      column: 1,
    });
  }
  closing.lastIndex = start;
  const close = closing.exec(text);
  if (!close) {
    return failed(text, { start, end: text.length }, text.length, {
      rule: "frontmatter_missing",
      message: "the frontmatter is opened by --- and never closed",
      hint: "end the frontmatter with a line ---",
      line: 1,
      column: 1,
    });
  }
  const yaml = { start, end: close.index };
  const after = close.index + close[0].length;
  const bodyStart = text.startsWith("\n", after) ? after + 1 : after;
  if (Buffer.byteLength(text.slice(yaml.start, yaml.end)) > mostBytes) {
    return failed(text, yaml, bodyStart, {
      rule: "yaml_invalid",
      message: `the frontmatter is ${Buffer.byteLength(text.slice(yaml.start, yaml.end))} bytes; the most is ${mostBytes}`,
      hint: "move what is long into the body",
      line: 1,
      column: 1,
    });
  }
  return parsed(text, yaml, bodyStart);
}

/** A whole file of YAML, such as `role.yaml`, under the same rules and limits. */
export function parseYamlFile(text: string): FrontmatterDocument {
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const yaml = { start, end: text.length };
  if (text.trim() === "") {
    return failed(text, yaml, text.length, {
      rule: "yaml_invalid",
      message: "the file is empty",
      hint: "write the keys of the role in YAML",
      line: 1,
      column: 1,
    });
  }
  return parsed(text, yaml, text.length);
}

function firstLine(text: string): string {
  return (text.split(/\r?\n/, 1)[0] ?? "").slice(0, 40);
}

function failed(
  text: string,
  yaml: { start: number; end: number },
  bodyStart: number,
  problem: Omit<Problem, "severity">,
): FrontmatterDocument {
  const at = { line: problem.line ?? 1, column: problem.column ?? 1 };
  return {
    text,
    yaml,
    bodyStart,
    problems: [{ severity: "error", ...problem }],
    data: {},
    positionOf: positionsIn(text),
    locate: () => at,
    span: () => undefined,
    keySpan: () => undefined,
  };
}

function parsed(text: string, yaml: { start: number; end: number }, bodyStart: number): FrontmatterDocument {
  const positionOf = positionsIn(text);
  const source = text.slice(yaml.start, yaml.end);
  const document = parseDocument(source, { prettyErrors: false, uniqueKeys: true, strict: true, logLevel: "silent" });
  const problems: Problem[] = [];
  const add = (offset: number, message: string, hint = "correct the YAML"): void => {
    problems.push({ rule: "yaml_invalid", severity: "error", message, hint, ...positionOf(yaml.start + offset) });
  };
  for (const fault of document.errors) add(fault.pos[0], fault.message, hintFor(fault.message, source, fault.pos[0]));
  for (const fault of document.warnings) add(fault.pos[0], fault.message);
  if (problems.length === 0) checkShape(document, add);
  const fine = problems.length === 0;
  return {
    text,
    yaml,
    bodyStart,
    ...(fine && { document }),
    problems,
    data: fine ? dataOf(document) : {},
    positionOf,
    locate(path) {
      const span = fine ? nearestSpan(document, path) : undefined;
      return positionOf(yaml.start + (span?.start ?? 0));
    },
    span(path) {
      const span = fine ? spanOf(document.getIn(path, true)) : undefined;
      return span && { start: yaml.start + span.start, end: yaml.start + span.end };
    },
    keySpan(path) {
      const span = fine ? keySpanOf(document, path) : undefined;
      return span && { start: yaml.start + span.start, end: yaml.start + span.end };
    },
  };
}

function hintFor(message: string, source: string, offset: number): string {
  if (/nested mappings/i.test(message) || /:\s/.test(source.slice(offset).split("\n", 1)[0] ?? ""))
    return 'put the value in quotes: an unquoted ": " begins a new key';
  if (/unique/i.test(message)) return "keep one of the keys";
  return "correct the YAML";
}

function checkShape(document: Document.Parsed, add: (offset: number, message: string, hint?: string) => void): void {
  if (!isMap(document.contents)) {
    add(document.contents?.range?.[0] ?? 0, "the frontmatter is no map of keys", "write it as key: value lines");
    return;
  }
  let aliases = 0;
  visit(document, (_, node, path) => {
    if (isAlias(node) && ++aliases === mostAliases + 1) {
      add(node.range?.[0] ?? 0, `more than ${mostAliases} aliases`, "write the values out");
      return visit.BREAK;
    }
    const depth = path.filter(isCollection).length + (isCollection(node) ? 1 : 0);
    if (depth <= deepest || !isNode(node)) return undefined;
    add(node.range?.[0] ?? 0, `nested deeper than ${deepest} levels`, "make it flatter");
    return visit.BREAK;
  });
  try {
    document.toJS({ maxAliasCount: mostAliases + 1 });
  } catch (error) {
    add(0, error instanceof Error ? error.message : String(error), "write the values out");
  }
}

function dataOf(document: Document.Parsed): Record<string, unknown> {
  const value: unknown = document.toJS({ maxAliasCount: mostAliases + 1 });
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

interface Span {
  start: number;
  end: number;
}

function spanOf(node: unknown): Span | undefined {
  if (!isNode(node) || !node.range) return undefined;
  return { start: node.range[0], end: node.range[1] };
}

function keySpanOf(document: Document.Parsed, path: readonly (string | number)[]): Span | undefined {
  const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
  if (!isMap(parent)) return undefined;
  const pair = parent.items.find(
    (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(path.at(-1)),
  );
  return pair && spanOf(pair.key);
}

function nearestSpan(document: Document.Parsed, path: readonly (string | number)[]): Span | undefined {
  for (let length = path.length; length > 0; length--) {
    const part = path.slice(0, length);
    const found = spanOf(document.getIn(part, true)) ?? keySpanOf(document, part);
    if (found) return found;
  }
  return spanOf(document.contents);
}

/**
 * A scalar as the author wrote it: `1.0` stays "1.0". Undefined for an absent or empty value and for lists and maps.
 */
export function scalarText(
  document: Document.Parsed | undefined,
  path: readonly (string | number)[],
): string | undefined {
  const node: unknown = document?.getIn(path, true);
  const target = isAlias(node) && document ? node.resolve(document) : node;
  if (!isScalar(target) || target.value === null || target.value === undefined) return undefined;
  if (typeof target.value === "string") return target.value;
  return target.source ?? String(target.value);
}
