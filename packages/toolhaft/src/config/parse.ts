import { nearest } from "@toolhaft/core";
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { usageFault } from "../exit-codes.ts";
import { type Config, configKeys, serverKeys } from "./schema.ts";

/**
 * Reads a config: JSON with comments, trailing commas and a byte order mark.
 *
 * @param path Stands in messages.
 * @throws CommandFault with path, line and what is wrong
 */
export function parseConfig(given: string, path: string): Config {
  const text = given.replace(/^\uFEFF/, "");
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: false });
  const fault = (offset: number, message: string) => usageFault(`${path}:${lineOf(text, offset)}: ${message}`);
  const [first] = errors;
  if (first !== undefined) throw fault(first.offset, `this is no JSON (${spaced(printParseErrorCode(first.error))})`);
  if (root === undefined || root.type !== "object")
    throw fault(0, 'a config is an object such as {"families": ["memory"]}');
  check(root, configKeys, "", fault);
  return plainValue(root) as Config;
}

type Fault = (offset: number, message: string) => Error;
type Keys = Readonly<Record<string, { kind: string }>>;

function check(node: Node, keys: Keys, at: string, fault: Fault): void {
  const seen = new Set<string>();
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (key === undefined || value === undefined) throw fault(property.offset, "a key without a value");
    const name = String(key.value);
    const path = at === "" ? name : `${at}.${name}`;
    if (seen.has(name)) throw fault(key.offset, `${path} stands here twice`);
    seen.add(name);
    const shape = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (shape === undefined) {
      const known = Object.keys(keys).filter((each) => each !== "$schema");
      const near = nearest(name, known, 1);
      const meant = near.length > 0 ? `did you mean ${near.join(", ")}?` : `known are ${known.join(", ")}`;
      throw fault(key.offset, `unknown key "${path}": ${meant}`);
    }
    checkValue(value, shape.kind, path, fault);
  }
}

function checkValue(node: Node, kind: string, path: string, fault: Fault): void {
  const wants = (what: string) => fault(node.offset, `${path} is ${what}, not ${node.type}`);
  const texts = (children: readonly Node[] | undefined) => (children ?? []).every(({ type }) => type === "string");
  const map = () =>
    (node.children ?? []).map((property) => property.children?.[1]).filter((value) => value !== undefined);
  switch (kind) {
    case "text":
      if (node.type !== "string") throw wants("a text");
      return;
    case "flag":
      if (node.type !== "boolean") throw wants("true or false");
      return;
    case "number":
      if (node.type !== "number" || !(Number(node.value) > 0)) throw wants("a number above 0");
      return;
    case "texts":
      if (node.type !== "array" || !texts(node.children)) throw wants("a list of texts");
      return;
    case "text map":
      if (node.type !== "object" || !texts(map())) throw wants("an object of texts");
      return;
    case "object":
      if (node.type !== "object") throw wants("an object");
      if (path === "options")
        for (const value of map())
          if (value.type !== "object") throw fault(value.offset, "options has an object for each family");
      return;
    default:
      if (node.type !== "object") throw wants("an object of servers");
      for (const property of node.children ?? []) checkServer(property, fault);
  }
}

function checkServer({ children = [], offset }: Node, fault: Fault): void {
  const [key, value] = children;
  const path = `mcpServers.${String(key?.value)}`;
  if (value === undefined || value.type !== "object") throw fault(offset, `${path} is an object`);
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(String(key?.value)))
    throw fault(offset, `${path}: a server's name has letters, digits, - and _, at most 32`);
  check(value, serverKeys, path, fault);
  const has = (name: string) => (value.children ?? []).some((property) => property.children?.[0]?.value === name);
  if (has("command") === has("url")) throw fault(value.offset, `${path} needs either command or url`);
}

/** Plain data without prototype keys: whoever merges it cannot be surprised. */
function plainValue(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(plainValue);
  if (node.type !== "object") return node.value;
  const entries = (node.children ?? []).flatMap(({ children: [key, value] = [] }): [string, unknown][] =>
    key === undefined || value === undefined || key.value === "__proto__"
      ? []
      : [[String(key.value), plainValue(value)]],
  );
  return Object.fromEntries(entries);
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function spaced(code: string): string {
  return code.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).trim();
}
