import { runForeign } from "./call.ts";
import { completeContext } from "./create-context.ts";
import { bindTool } from "./define-tool.ts";
import type { Family } from "./family.ts";
import { internalsOf } from "./internals.ts";
import type { Middleware } from "./middleware/types.ts";
import { nearest } from "./nearest.ts";
import { stringPattern } from "./policy/pattern.ts";
import type { AnyTool } from "./tool.ts";

/** Tools under distinct names, and the families they came from. Immutable: each method gives a new one. */
export interface Toolset extends AsyncDisposable {
  readonly tools: readonly AnyTool[];
  get(name: string): AnyTool | undefined;
  /** Only the tools that match a name or pattern, in the order they stand in. */
  pick(...patterns: readonly string[]): Toolset;
  omit(...patterns: readonly string[]): Toolset;
  rename(names: Readonly<Record<string, string>>): Toolset;
  prefix(prefix: string): Toolset;
  /** Only tools with `readOnlyHint: true`. */
  readOnly(): Toolset;
  /** Puts middleware around every call; the first is outermost. */
  wrap(...middleware: readonly Middleware[]): Toolset;
  /** Closes every family once, last first; all are tried. @throws AggregateError with what failed */
  close(): Promise<void>;
}

type Part = Family | Toolset | AnyTool | readonly AnyTool[];

interface Owned {
  tool: AnyTool;
  /** For messages: "the family memory". */
  owner: string;
  family: string | undefined;
}

/** A toolset remembers whose its tools are and what is to be closed. */
const contentsKey: unique symbol = Symbol.for("toolhaft.toolset.v1");

interface Contents {
  readonly owned: readonly Owned[];
  readonly families: readonly Family[];
  /** Families already being closed, shared by every toolset made from this one. */
  readonly closing: Map<Family, Promise<void>>;
}

/**
 * Families, toolsets and tools as one set, in the order given.
 *
 * @throws TypeError when two tools have one name, naming both families.
 */
export function toolset(...parts: readonly Part[]): Toolset {
  const owned: Owned[] = [];
  const families: Family[] = [];
  const closing = new Map<Family, Promise<void>>();
  for (const part of parts) {
    const contents = contentsOf(part);
    owned.push(...contents.owned);
    for (const family of contents.families) if (!families.includes(family)) families.push(family);
    for (const [family, closed] of contents.closing) closing.set(family, closed);
  }
  return make({ owned, families, closing });
}

/** Which family each tool of a set came from, by the tool's name in the set. */
export function familiesOf(set: Toolset): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { tool, family } of contentsOf(set).owned) if (family !== undefined) found.set(tool.name, family);
  return found;
}

/** The same tool under a second name, described as "Same as <name>." */
export function alias(tool: AnyTool, name: string): AnyTool {
  requireName(name, "alias");
  return rebind(tool, { name, description: `Same as ${tool.name}.` });
}

function make(contents: Contents): Toolset {
  const { owned, families, closing } = contents;
  refuseDuplicates(owned);
  const byName = new Map(owned.map(({ tool }) => [tool.name, tool]));
  const keep = (test: (tool: AnyTool) => boolean): Toolset =>
    make({ ...contents, owned: owned.filter(({ tool }) => test(tool)) });
  const change = (rebound: (tool: AnyTool) => AnyTool): Toolset =>
    make({ ...contents, owned: owned.map((one) => ({ ...one, tool: rebound(one.tool) })) });
  const renamed = (names: ReadonlyMap<string, string>): Toolset => {
    for (const name of names.values()) requireName(name, "rename");
    return change((tool) => {
      const before = internalsOf(tool)?.binding.toolName;
      const toolName = (original: string): string => {
        const current = before === undefined ? original : before(original);
        return names.get(current) ?? current;
      };
      return rebind(tool, { name: names.get(tool.name) ?? tool.name, toolName });
    });
  };
  const matcher = (method: string, patterns: readonly string[]): ((tool: AnyTool) => boolean) => {
    if (patterns.length === 0)
      throw new TypeError(`${method}() names no tool; give names or patterns such as "memory_*"`);
    const tests = patterns.map((pattern) => {
      const test = stringPattern(pattern);
      if (!owned.some(({ tool }) => test(tool.name))) throw unknownName(method, pattern, byName.keys());
      return test;
    });
    return (tool) => tests.some((test) => test(tool.name));
  };

  const set: Toolset & { readonly [contentsKey]: Contents } = {
    [contentsKey]: contents,
    tools: Object.freeze(owned.map(({ tool }) => tool)),
    get: (name) => byName.get(name),
    pick: (...patterns) => keep(matcher("pick", patterns)),
    omit: (...patterns) => {
      const matches = matcher("omit", patterns);
      return keep((tool) => !matches(tool));
    },
    rename: (names) => {
      for (const name of Object.keys(names)) if (!byName.has(name)) throw unknownName("rename", name, byName.keys());
      return renamed(new Map(Object.entries(names)));
    },
    prefix: (prefix) => renamed(new Map([...byName.keys()].map((name) => [name, prefix + name]))),
    readOnly: () => keep((tool) => tool.annotations.readOnlyHint),
    wrap: (...middleware) => change((tool) => rebind(tool, { middleware })),
    close: () => closeAll(families, closing),
    [Symbol.asyncDispose]: () => closeAll(families, closing),
  };
  return Object.freeze(set);
}

function contentsOf(part: Part): Contents {
  const closing = new Map<Family, Promise<void>>();
  if (Array.isArray(part))
    return {
      owned: part.map((tool: AnyTool) => ({ tool, owner: "the given list", family: undefined })),
      families: [],
      closing,
    };
  if (contentsKey in part) return (part as Toolset & { readonly [contentsKey]: Contents })[contentsKey];
  if ("tools" in part && "close" in part) {
    const owner = "name" in part ? `the family ${part.name}` : "a toolset";
    const family: Family =
      "name" in part
        ? part
        : { name: "toolset", tools: part.tools, close: () => part.close(), [Symbol.asyncDispose]: () => part.close() };
    const name = "name" in part ? part.name : undefined;
    return { owned: part.tools.map((tool) => ({ tool, owner, family: name })), families: [family], closing };
  }
  if ("call" in part)
    return { owned: [{ tool: part, owner: "the given tools", family: undefined }], families: [], closing };
  throw new TypeError("toolset: a part is neither a family, a toolset, a tool nor a list of tools");
}

interface Change {
  name?: string;
  description?: string;
  toolName?: (original: string) => string;
  middleware?: readonly Middleware[];
}

function rebind(tool: AnyTool, change: Change): AnyTool {
  const internals = internalsOf(tool);
  const middleware = change.middleware ?? [];
  if (internals === undefined) return rebindForeign(tool, change, middleware);
  const { binding } = internals;
  return bindTool(internals.core, tool.parse, {
    name: change.name ?? binding.name,
    description: change.description ?? binding.description,
    middleware: [...middleware, ...binding.middleware],
    toolName: change.toolName ?? binding.toolName,
  });
}

/** A tool that core did not make: its own `call` is what stands inside. */
function rebindForeign(tool: AnyTool, change: Change, middleware: readonly Middleware[]): AnyTool {
  const name = change.name ?? tool.name;
  const calling = { tool: name, defaultRules: tool.defaultRules ?? [], toolName: change.toolName };
  const description = change.description ?? tool.description;
  const changed: AnyTool = {
    ...tool,
    name,
    description,
    call: (raw, init) =>
      runForeign(tool, middleware, { tool: changed, raw, context: completeContext(init ?? {}, calling) }),
    "~standard": { ...tool["~standard"], name, description },
  };
  return Object.freeze(changed);
}

function refuseDuplicates(owned: readonly Owned[]): void {
  const first = new Map<string, string>();
  const clashes: string[] = [];
  let fix = "";
  for (const { tool, owner } of owned) {
    const other = first.get(tool.name);
    if (other === undefined) first.set(tool.name, owner);
    else {
      clashes.push(`${tool.name} (of ${other} and of ${owner})`);
      fix ||= prefixFix(tool.name, other, owner);
    }
  }
  if (clashes.length > 0)
    throw new TypeError(
      `toolset: ${clashes.length === 1 ? "two tools have one name" : "tools share names"}: ${clashes.join(", ")}; give one of them a prefix first: ${fix}`,
    );
}

/** Of the two families the one whose name the tool does not already carry. */
function prefixFix(tool: string, one: string, other: string): string {
  const names = [other, one]
    .map((owner) => owner.replace(/^the family /, ""))
    .filter((name) => /^[a-z][a-z0-9-]*$/.test(name));
  const chosen = names.find((name) => !tool.startsWith(name.replaceAll("-", "_"))) ?? names[0];
  if (chosen === undefined) return 'toolset(…).prefix("my_")';
  const factory = chosen
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
  return `toolset(create${factory}()).prefix("${chosen.split("-")[0]}_")`;
}

function unknownName(method: string, name: string, names: Iterable<string>): TypeError {
  const all = [...names];
  const near = nearest(name.replaceAll("*", ""), all);
  return new TypeError(
    `${method}: no tool matches "${name}"${near.length > 0 ? `; did you mean ${near.join(", ")}?` : `; there are: ${all.slice(0, 20).join(", ")}`}`,
  );
}

/** A prefix may use the 16 characters that a tool's own name leaves. */
function requireName(name: string, method: string): void {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(name))
    throw new TypeError(
      `${method}: "${name}" does not match ^[a-z][a-z0-9_]{0,63}$, so some host would refuse or rewrite it`,
    );
}

async function closeAll(families: readonly Family[], closing: Map<Family, Promise<void>>): Promise<void> {
  const faults: unknown[] = [];
  for (const family of [...families].reverse()) {
    let closed = closing.get(family);
    if (closed === undefined) {
      closed = Promise.resolve().then(() => family.close());
      closing.set(family, closed);
    }
    await closed.catch((fault: unknown) => faults.push(fault));
  }
  if (faults.length > 0)
    throw new AggregateError(
      faults,
      `closing failed: ${faults.map((fault) => (fault instanceof Error ? fault.message : String(fault))).join("; ")}`,
    );
}
