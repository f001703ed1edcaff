import { readFile } from "node:fs/promises";
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { defineServer, type ServerDefinition } from "./definition.ts";
import { sourceText } from "./positions.ts";

/** Definitions and choices after merging built-ins, the folder's configuration and options. */
export interface Registry {
  definitions: ServerDefinition[];
  /** Ids whose definition holds something that the folder's file chose. */
  chosenByFolder: Set<string>;
  prefer: Record<string, string[]>;
  files: Record<string, string>;
  /** "toolhaft.config.json 4:12 …" */
  problems: string[];
}

export interface RegistryOptions {
  servers?: Record<string, Partial<ServerDefinition> | false> | undefined;
  prefer?: Record<string, string[]> | undefined;
  files?: Record<string, string> | undefined;
}

type Fields = Record<string, unknown>;

/** The `lsp` section of a configuration file, as far as it can be understood. */
export async function readConfig(path: string): Promise<{ section: Fields; problems: string[] }> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { section: {}, problems: [] };
    return { section: {}, problems: [`${path} cannot be read: ${error instanceof Error ? error.message : error}`] };
  }
  const source = sourceText(text.replace(/^\uFEFF/, ""));
  const where = (offset: number) => {
    const { line, character } = source.positionAt(offset);
    return `${path} ${line + 1}:${character + 1}`;
  };
  const errors: ParseError[] = [];
  const tree = parseTree(source.text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first) {
    return { section: {}, problems: [`${where(first.offset)} is no JSON: ${printParseErrorCode(first.error)}`] };
  }
  const node = tree && findNodeAtLocation(tree, ["lsp"]);
  if (node === undefined) return { section: {}, problems: [] };
  const problems: string[] = [];
  const section = checkSection(node, (offset, what) => problems.push(`${where(offset)} ${what}`));
  return { section, problems };
}

type Complain = (offset: number, what: string) => void;

function checkSection(node: Node, complain: Complain): Fields {
  const section: Fields = {};
  for (const [key, value] of properties(node, "lsp", complain)) {
    if (key === "servers") section.servers = checkServers(value, complain);
    else if (key === "prefer") section.prefer = checkMap(value, "prefer", isStrings, "a list of server ids", complain);
    else if (key === "files") section.files = checkMap(value, "files", isString, "a language id", complain);
    else complain(value.offset, `lsp.${key} is not known; known are servers, prefer, files`);
  }
  return section;
}

function checkServers(node: Node, complain: Complain): Fields {
  const servers: Fields = {};
  for (const [id, value] of properties(node, "lsp.servers", complain)) {
    if (value.type === "boolean" && value.value === false) {
      servers[id] = false;
      continue;
    }
    const fields: Fields = {};
    for (const [key, field] of properties(value, `lsp.servers.${id}`, complain)) {
      const wanted = fieldTypes[key];
      const json: unknown = getNodeValue(field);
      if (wanted === undefined) complain(field.offset, `lsp.servers.${id}.${key} is not known`);
      else if (json !== null && !wanted.test(json))
        complain(field.offset, `lsp.servers.${id}.${key} must be ${wanted.is}`);
      else fields[key] = json;
    }
    servers[id] = fields;
  }
  return servers;
}

function checkMap(node: Node, name: string, test: (value: unknown) => boolean, is: string, complain: Complain): Fields {
  const fields: Fields = {};
  for (const [key, value] of properties(node, `lsp.${name}`, complain)) {
    const json: unknown = getNodeValue(value);
    if (test(json)) fields[key] = json;
    else complain(value.offset, `lsp.${name}["${key}"] must be ${is}`);
  }
  return fields;
}

function properties(node: Node, name: string, complain: Complain): [string, Node][] {
  if (node.type !== "object") {
    complain(node.offset, `${name} must be an object`);
    return [];
  }
  return (node.children ?? []).flatMap((property): [string, Node][] => {
    const [key, value] = property.children ?? [];
    return key && value ? [[String(key.value), value]] : [];
  });
}

const isString = (value: unknown) => typeof value === "string";
const isStrings = (value: unknown) => Array.isArray(value) && value.every(isString);
const isBoolean = (value: unknown) => typeof value === "boolean";
const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
const isObjects = (value: unknown) => Array.isArray(value) && value.every(isObject);
const anything = () => true;

const fieldTypes: Record<string, { test: (value: unknown) => boolean; is: string }> = {
  command: { test: isString, is: "a string" },
  args: { test: isStrings, is: "a list of strings" },
  files: { test: isObjects, is: "a list of { languageId, extensions, names, shebangs }" },
  root: { test: isObject, is: "{ markers, pick }" },
  role: { test: (value) => value === "language" || value === "linter", is: '"language" or "linter"' },
  group: { test: isString, is: "a string" },
  when: { test: isObject, is: "{ files, npm }" },
  install: { test: isObjects, is: "a list of { with, what }" },
  initializationOptions: { test: anything, is: "JSON" },
  settings: { test: isObject, is: "an object" },
  env: { test: isObject, is: "an object of strings" },
  positionEncodings: { test: isStrings, is: "a list of encodings" },
  timeouts: { test: isObject, is: "an object of milliseconds" },
  ready: { test: isObject, is: "an object" },
  multiRoot: { test: isBoolean, is: "true or false" },
  renameAtDefinition: { test: isBoolean, is: "true or false" },
  editsOpenFilesOnly: { test: isBoolean, is: "true or false" },
  needsOpenFileForSymbols: { test: isBoolean, is: "true or false" },
  editOnlyCommands: { test: isStrings, is: "a list of command names" },
};

/** Objects merge deeply, arrays and scalars replace, `null` removes. */
export function mergeDeep(base: unknown, over: unknown): unknown {
  if (!isObject(base) || !isObject(over)) return over;
  const result: Fields = { ...(base as Fields) };
  for (const [key, value] of Object.entries(over as Fields)) {
    if (value === null) delete result[key];
    else if (value !== undefined) result[key] = key in result ? mergeDeep(result[key], value) : value;
  }
  return result;
}

/** Built-ins, then the folder's configuration, then options; a definition that is not whole is left out and reported. */
export function mergeRegistry(
  builtins: readonly ServerDefinition[],
  config: { section: Fields; problems: string[] },
  options: RegistryOptions,
): Registry {
  const definitions = new Map<string, ServerDefinition>(builtins.map((one) => [one.id, one]));
  const problems = [...config.problems];
  const chosenByFolder = new Set<string>();
  const apply = (servers: Fields, fromFolder: boolean) => {
    for (const [id, change] of Object.entries(servers)) {
      if (change === false) {
        definitions.delete(id);
        continue;
      }
      const base: unknown = definitions.get(id) ?? {
        id,
        args: [],
        root: { markers: [".git"], pick: "nearest" },
        install: [],
      };
      const merged = mergeDeep(base, { ...(change as Fields), id }) as ServerDefinition;
      const incomplete = missing(merged);
      if (incomplete) {
        problems.push(`server ${id} is left out: ${incomplete}`);
        continue;
      }
      definitions.set(id, defineServer(merged));
      if (fromFolder) chosenByFolder.add(id);
    }
  };
  apply((config.section.servers ?? {}) as Fields, true);
  apply((options.servers ?? {}) as Fields, false);
  return {
    definitions: [...definitions.values()],
    chosenByFolder,
    prefer: { ...(config.section.prefer as Record<string, string[]> | undefined), ...options.prefer },
    files: { ...(config.section.files as Record<string, string> | undefined), ...options.files },
    problems,
  };
}

function missing(definition: Partial<ServerDefinition>): string | undefined {
  if (typeof definition.command !== "string" || definition.command === "") return "it has no command";
  if (!Array.isArray(definition.files) || definition.files.length === 0) return "it has no files";
  for (const file of definition.files) {
    if (typeof file.languageId !== "string") return "an entry of files has no languageId";
    if (!file.extensions?.length && !file.names?.length && !file.shebangs?.length) {
      return `language ${file.languageId} has no extensions, names or shebangs`;
    }
    const bare = file.extensions?.find((extension) => !extension.startsWith("."));
    if (bare !== undefined) return `extension "${bare}" must start with a dot`;
  }
  if (!/^[a-z][a-z0-9_-]*$/.test(definition.id ?? "")) return "its id must match [a-z][a-z0-9_-]*";
  return undefined;
}
