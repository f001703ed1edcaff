import type { FunctionSpec } from "./function.ts";

/** A call for a function at the start of a line: `|plan|`, `|plan:a,b|` or `|plan key=value|`. */
export interface Activation {
  name: string;
  /** By position. */
  args: string[];
  named: Readonly<Record<string, string>>;
}

const line =
  /^\|(?<name>[a-z][a-z0-9-]*(?:\/[a-z][a-z0-9-]*)*)(?::(?<args>[^|\r\n]*)| +(?<named>[^|\r\n]*))?\|(?=[^|\r\n]*\r?$)[ \t]*/gm;
const assignment = /([A-Za-z_][A-Za-z0-9_-]*)=(?:"((?:[^"\\]|\\.)*)"|(\S*))/g;

/** Takes activations out of a message; `rest` is the text without them. A row of a table is none. */
export function parseActivations(text: string): { activations: Activation[]; rest: string } {
  const activations: Activation[] = [];
  const rest = text.replace(line, (...match) => {
    const groups = match.at(-1) as Record<string, string | undefined>;
    const named: Record<string, string> = {};
    for (const [, key = "", quoted, bare] of (groups.named ?? "").matchAll(assignment))
      named[key] = quoted === undefined ? (bare ?? "") : quoted.replace(/\\(.)/g, "$1");
    const args = groups.args === undefined ? [] : groups.args.split(",").map((arg) => arg.trim());
    activations.push({ name: groups.name ?? "", args, named });
    return "";
  });
  return { activations, rest };
}

/** Places for params in a body: `{{name}}`. */
export const placeholder = /\{\{\s*([A-Za-z_][A-Za-z0-9_-]*)\s*\}\}/g;

/** The body with its placeholders filled: by name, by position, by default. What nobody gave stays as written. */
export function fillParams(spec: FunctionSpec, activation: Activation): string {
  const values = new Map<string, string>();
  spec.params.forEach(({ name, default: otherwise }, index) => {
    const value = activation.named[name] ?? activation.args[index] ?? otherwise;
    if (value !== undefined) values.set(name, value);
  });
  return spec.body.replace(placeholder, (written, name: string) => values.get(name) ?? written);
}
