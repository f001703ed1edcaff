import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";

/** The floors of the house: an import only ever goes down, never sideways. A new package gets its line here. */
export const floors: Readonly<Record<string, number>> = {
  core: 1,
  testing: 1,
  workspace: 2,
  net: 2,
  sqlite: 2,
  text: 2,
  process: 2,
  "asset-format": 2,
  hashline: 3,
  "lsp-tools": 3,
  memory: 3,
  session: 3,
  tasks: 3,
  web: 3,
  assets: 3,
  functions: 3,
  meta: 3,
  dispatch: 4,
  context: 4,
  mcp: 5,
  postgres: 5,
  adapters: 6,
  toolhaft: 7,
};

/** One import, or one line of a manifest, that the house does not allow. */
export interface LayerFault {
  /** Relative to the repository. */
  file: string;
  line: number;
  message: string;
}

interface Import {
  specifier: string;
  line: number;
  typeOnly: boolean;
}

interface Manifest {
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  exports?: Record<string, unknown>;
  bin?: Record<string, string>;
}

interface Package {
  folder: string;
  name: string;
  path: string;
  manifest: Manifest;
  declared: ReadonlySet<string>;
}

/**
 * Checks every import in `packages/<name>/src` and every `package.json`: the same package, a lower floor, a declared
 * dependency or `node:`; only declared subpaths across packages; no `node:` behind core's root; no import cycle of values.
 */
export function checkLayers(repository: string): LayerFault[] {
  const packages = readPackages(repository);
  const faults = packages.flatMap((own) => [
    ...manifestFaults(own, packages, repository),
    ...sourceFaults(own, packages, repository),
  ]);
  const core = packages.find(({ folder }) => folder === "core");
  return core === undefined ? faults : [...faults, ...nodeBehindCoreRoot(core, repository)];
}

/** `packages/web/src/a.ts:3: …`, one line each. */
export function formatFault({ file, line, message }: LayerFault): string {
  return `${file}:${line}: ${message}`;
}

function readPackages(repository: string): Package[] {
  const root = join(repository, "packages");
  const rootManifest = join(repository, "package.json");
  const rootTools = existsSync(rootManifest) ? JSON.parse(readFileSync(rootManifest, "utf8")).devDependencies : {};
  return readdirSync(root)
    .filter((folder) => existsSync(join(root, folder, "package.json")))
    .map((folder) => {
      const manifest: Manifest & { name: string } = JSON.parse(
        readFileSync(join(root, folder, "package.json"), "utf8"),
      );
      const { dependencies, peerDependencies, optionalDependencies } = manifest;
      // testing is private and lives on the root's development tools.
      const shared = folder === "testing" ? rootTools : {};
      const declared = new Set(
        Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies, ...shared }),
      );
      return { folder, name: manifest.name, path: join(root, folder), manifest, declared };
    });
}

function manifestFaults(own: Package, packages: readonly Package[], repository: string): LayerFault[] {
  const file = relative(repository, join(own.path, "package.json"));
  const lines = readFileSync(join(own.path, "package.json"), "utf8").split("\n");
  const fault = (needle: string, message: string): LayerFault => {
    const at = lines.findIndex((text) => text.includes(`"${needle}"`));
    return { file, line: Math.max(at, 0) + 1, message };
  };
  if (floors[own.folder] === undefined)
    return [fault("name", `package "${own.folder}" has no floor: add it to packages/testing/src/layers.ts`)];
  return [...own.declared].flatMap((dependency) => {
    const target = packages.find(({ name }) => name === dependency && name !== own.name);
    const message = target && floorFault(own, target);
    return message === undefined ? [] : [fault(dependency, message)];
  });
}

function sourceFaults(own: Package, packages: readonly Package[], repository: string): LayerFault[] {
  const graph = new Map<string, { file: string; line: number }[]>();
  const faults = sourceFiles(join(own.path, "src")).flatMap((file) => {
    const edges: { file: string; line: number }[] = [];
    graph.set(file, edges);
    return importsOf(file).flatMap(({ specifier, line, typeOnly }) => {
      const target = specifier.startsWith(".") ? resolve(dirname(file), specifier) : undefined;
      if (target !== undefined && !typeOnly) edges.push({ file: target, line });
      const message = importFault(own, packages, specifier, target);
      return message === undefined ? [] : [{ file: relative(repository, file), line, message }];
    });
  });
  return [...faults, ...cycleFaults(graph, repository)];
}

function importFault(
  own: Package,
  packages: readonly Package[],
  specifier: string,
  target: string | undefined,
): string | undefined {
  if (target !== undefined) {
    // Its own manifest: the version it tells. The build writes it into the bundle.
    if (target === join(own.path, "package.json")) return undefined;
    return target.startsWith(join(own.path, "src"))
      ? undefined
      : `"${specifier}" leaves packages/${own.folder}/src: import a package by its name`;
  }
  if (specifier.startsWith("node:")) return undefined;
  if (isBuiltin(specifier)) return `"${specifier}" is a built-in module: write "node:${specifier}"`;
  const [name, subpath] = splitSpecifier(specifier);
  if (name === own.name) return undefined;
  const other = packages.find((entry) => entry.name === name);
  if (other === undefined) {
    return own.declared.has(name) ? undefined : `"${name}" is not declared in packages/${own.folder}/package.json`;
  }
  const wrongFloor = floorFault(own, other);
  if (wrongFloor !== undefined) return wrongFloor;
  if (!own.declared.has(name)) return `"${name}" is not declared in packages/${own.folder}/package.json`;
  const declared = Object.keys(other.manifest.exports ?? {});
  return declared.includes(subpath)
    ? undefined
    : `"${specifier}" is no declared subpath of ${name}: it has ${declared.join(", ")}`;
}

function floorFault(own: Package, target: Package): string | undefined {
  if (own.folder === "testing")
    return target.folder === "core" ? undefined : `testing may import core only, not ${target.folder}`;
  if (target.folder === "testing")
    return `testing (floor 1) is for tests only; ${own.folder} (floor ${floors[own.folder]}) imports it from its sources`;
  const [from, to] = [floors[own.folder], floors[target.folder]];
  if (from === undefined || to === undefined || to < from) return undefined;
  const direction = to === from ? "sideways" : "up";
  return `${own.folder} (floor ${from}) imports ${target.folder} (floor ${to}): imports only go down, this goes ${direction}`;
}

/** Files that core's root reaches may not name `node:`: the root runs in browsers and workers. */
function nodeBehindCoreRoot(core: Package, repository: string): LayerFault[] {
  const pending = [join(core.path, "src/index.ts")];
  const seen = new Set(pending);
  const faults: LayerFault[] = [];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (!existsSync(file)) continue;
    for (const { specifier, line, typeOnly } of importsOf(file)) {
      if (typeOnly) continue;
      if (isBuiltin(specifier)) {
        const message = `core's root reaches "${specifier}": it must run without Node; put it behind @toolhaft/core/node`;
        faults.push({ file: relative(repository, file), line, message });
      }
      const target = resolve(dirname(file), specifier);
      if (specifier.startsWith(".") && !seen.has(target)) {
        seen.add(target);
        pending.push(target);
      }
    }
  }
  return faults;
}

/** One fault for each edge that closes a cycle, found depth first. */
function cycleFaults(
  graph: ReadonlyMap<string, readonly { file: string; line: number }[]>,
  repository: string,
): LayerFault[] {
  const done = new Set<string>();
  const faults: LayerFault[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (done.has(file)) return;
    for (const edge of graph.get(file) ?? []) {
      const start = path.indexOf(edge.file);
      if (start >= 0) {
        const names = [...path.slice(start), edge.file].map((name) => relative(repository, name));
        faults.push({
          file: relative(repository, file),
          line: edge.line,
          message: `import cycle: ${names.join(" -> ")}`,
        });
      } else visit(edge.file, [...path, edge.file]);
    }
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, [file]);
  return faults;
}

/** Imports, re-exports and `import()` calls of a file, as TypeScript reads them. */
function importsOf(file: string): Import[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const found: Import[] = [];
  const add = (literal: ts.Node | undefined, typeOnly: boolean) => {
    if (literal === undefined || !ts.isStringLiteralLike(literal)) return;
    const line = source.getLineAndCharacterOfPosition(literal.getStart(source)).line + 1;
    found.push({ specifier: literal.text, line, typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, onlyTypes(node.importClause));
    else if (ts.isExportDeclaration(node))
      add(node.moduleSpecifier, node.isTypeOnly || onlyTypeElements(node.exportClause));
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    // `import()` runs later, when both modules are complete: it closes no cycle of evaluation.
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], true);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function onlyTypes(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  return clause.name === undefined && onlyTypeElements(clause.namedBindings);
}

function onlyTypeElements(bindings: ts.NamedImportBindings | ts.NamedExportBindings | undefined): boolean {
  if (bindings === undefined || !(ts.isNamedImports(bindings) || ts.isNamedExports(bindings))) return false;
  return bindings.elements.length > 0 && bindings.elements.every(({ isTypeOnly }) => isTypeOnly);
}

function splitSpecifier(specifier: string): [name: string, subpath: string] {
  const words = specifier.split("/");
  const length = specifier.startsWith("@") ? 2 : 1;
  const rest = words.slice(length).join("/");
  return [words.slice(0, length).join("/"), rest === "" ? "." : `./${rest}`];
}

function sourceFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => /\.[cm]?tsx?$/.test(file))
    .sort();
}
