import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  builtinConditions,
  type ConditionRegistry,
  type FunctionSpec as Format,
  type Problem,
  parseFunction,
  parseRole,
  type RoleSpec,
} from "@toolhaft/asset-format";
import { isMissing } from "../system-error.ts";
import { byPriority, type FunctionSpec, type FunctionSpecs, isWithin } from "./specs.ts";

export interface DirectorySpecsOptions {
  /** Names that conditions may use. @default those of the format */
  conditions?: ConditionRegistry;
}

const hosts = [".agents", ".claude", ".opencode"] as const;
const deepest = 16;
const mostFileBytes = 1_048_576;

interface Source {
  path: string;
  kind: "function" | "role";
  role: string | null;
  stamp: string;
}

interface Read {
  functions: FunctionSpec[];
  roles: string[];
}

/**
 * Functions in the files of a workspace: `functions/` of `.agents`, `.claude` and `.opencode`, of each role below
 * `roles/`, and inline in `role.yaml`. Every call looks at the stamps of all files and reads those that changed.
 *
 * @param directory Absolute path. The first of two functions with one id counts.
 */
export function directorySpecs(directory: string, options: DirectorySpecsOptions = {}): FunctionSpecs {
  const registry = options.conditions ?? builtinConditions;
  const known = new Map<string, { stamp: string; read: Promise<Read> }>();
  let last: { version: string; specs: Promise<Read> } | undefined;

  const load = async (): Promise<{ version: string; read: Read }> => {
    const sources = await findSources(directory);
    const version = sources.map(({ path, stamp }) => `${path} ${stamp}`).join("\n");
    if (last?.version !== version) {
      const paths = new Set(sources.map(({ path }) => path));
      for (const path of known.keys()) if (!paths.has(path)) known.delete(path);
      last = { version, specs: readAll(sources) };
    }
    return { version, read: await last.specs };
  };

  const readAll = async (sources: readonly Source[]): Promise<Read> => {
    const reads = await Promise.all(
      sources.map((source) => {
        const before = known.get(source.path);
        if (before?.stamp === source.stamp) return before.read;
        const read = readSource(source, registry);
        known.set(source.path, { stamp: source.stamp, read });
        return read;
      }),
    );
    const byId = new Map<string, FunctionSpec>();
    for (const { functions } of reads) for (const spec of functions) if (!byId.has(spec.id)) byId.set(spec.id, spec);
    return { functions: [...byId.values()].sort(byPriority), roles: [...new Set(reads.flatMap(({ roles }) => roles))] };
  };

  return {
    async list(scope) {
      const { functions } = (await load()).read;
      return scope === undefined ? functions : functions.filter(({ role }) => isWithin(role, scope));
    },
    version: async () => (await load()).version,
    roles: async () => (await load()).read.roles,
  };
}

async function findSources(directory: string): Promise<Source[]> {
  const bases = [...hosts.map((host) => join(directory, host)), directory];
  const found = await Promise.all(
    bases.map(async (base) => {
      // A plain folder `functions` of a project is code; only those of hosts and roles are assets.
      const own = base === directory ? [] : await functionFiles(join(base, "functions"), null);
      const roles = await roleFolders(join(base, "roles"), null, 0);
      const single = base === directory ? await roleAt(base, basename(directory), 0) : [];
      return [...own, ...roles, ...single];
    }),
  );
  return found.flat();
}

async function roleFolders(folder: string, parent: string | null, depth: number): Promise<Source[]> {
  if (depth > 3) return [];
  const names = await entriesOf(folder);
  const found = await Promise.all(
    names.map(({ name }) => roleAt(join(folder, name), parent === null ? name : `${parent}/${name}`, depth)),
  );
  return found.flat();
}

/** A role with its functions and the roles below it; nothing where there is no `role.yaml`. */
async function roleAt(folder: string, role: string, depth: number): Promise<Source[]> {
  const path = join(folder, "role.yaml");
  const stamp = await stampOf(path);
  if (stamp === undefined) return [];
  const own = await functionFiles(join(folder, "functions"), role);
  return [
    { path, kind: "role", role, stamp },
    ...own,
    ...(await roleFolders(join(folder, "subagents"), role, depth + 1)),
  ];
}

async function functionFiles(folder: string, role: string | null, depth = 0): Promise<Source[]> {
  if (depth > deepest) return [];
  const found = await Promise.all(
    (await entriesOf(folder)).map(async (entry): Promise<Source[]> => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return functionFiles(path, role, depth + 1);
      if (!entry.name.toLowerCase().endsWith(".md")) return [];
      const stamp = await stampOf(path);
      return stamp === undefined ? [] : [{ path, kind: "function", role, stamp }];
    }),
  );
  return found.flat();
}

async function entriesOf(folder: string) {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter(({ name }) => !name.startsWith(".")).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isMissing(error) || isClosed(error)) return [];
    throw error;
  }
}

/** One folder that may not be read must not hide the others. */
function isClosed(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM");
}

async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true }).then((found) =>
      found.isFile() ? found : Promise.reject(Object.assign(new Error("no file"), { code: "ENOENT" })),
    );
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    if (isMissing(error) || isClosed(error)) return undefined;
    throw error;
  }
}

async function readSource({ path, kind, role }: Source, registry: ConditionRegistry): Promise<Read> {
  const nothing: Read = { functions: [], roles: role === null ? [] : [role] };
  const bytes = await readFile(path).catch((error: unknown) => {
    if (isMissing(error) || isClosed(error)) return undefined;
    throw error;
  });
  if (bytes === undefined || bytes.length > mostFileBytes) return nothing;
  const text = bytes.toString("utf8");
  if (kind === "function") {
    const { value, problems } = parseFunction(text, basename(path), registry);
    return value ? { ...nothing, functions: [scoped(value, role, problems, path)] } : broken(path, role, problems);
  }
  const { value, problems } = parseRole(text, role ?? basename(path), { conditions: registry });
  if (!value) return nothing;
  return inRole(value, problems, path);
}

/** A file that does not parse is a function all the same: gated, with its problem, and never active by accident. */
function broken(path: string, role: string | null, problems: readonly Problem[]): Read {
  const { value } = parseFunction("---\ndescription: broken\n---\n", basename(path));
  if (!value) return { functions: [], roles: [] };
  const spec = scoped(value, role, problems, path);
  const gate = {
    source: "",
    error: {
      kind: "error",
      rule: "condition_syntax",
      message: "the file does not parse",
      expected: "a file that parses",
      path: [],
      offset: 0,
      near: [],
    },
  } as const;
  return { functions: [{ ...spec, gate }], roles: role === null ? [] : [role] };
}

function inRole(role: RoleSpec, problems: readonly Problem[], path: string): Read {
  const own = role.inlineFunctions.map((spec) => scoped(spec, role.id, [], path));
  const below = role.subagents.map((sub) => inRole(sub, [], path));
  const errors = problems.filter(({ rule }) => rule === "condition_syntax" || rule === "unknown_condition");
  for (const spec of own) spec.problems = errors.filter(({ message }) => message.includes(spec.name)).map(shownProblem);
  return {
    functions: [...own, ...below.flatMap(({ functions }) => functions)],
    roles: [role.id, ...below.flatMap(({ roles }) => roles)],
  };
}

function scoped(spec: Format, role: string | null, problems: readonly Problem[], path: string): FunctionSpec {
  const errors = problems.filter(({ severity }) => severity === "error");
  return {
    ...spec,
    id: role === null ? spec.name : `${role}/${spec.name}`,
    role,
    path,
    problems: errors.map(shownProblem),
  };
}

function shownProblem({ rule, message, hint, line, column }: Problem): string {
  const place = line === undefined ? "" : ` (${line}:${column ?? 1})`;
  return `${rule}${place}: ${message}; ${hint}`;
}
