import {
  builtinConditions,
  type ConditionRegistry,
  type FunctionSpec as Format,
  parseFunction,
  parseRole,
  type RoleSpec,
} from "@toolhaft/asset-format";
import { byPriority, type FunctionSpec, type FunctionSpecs, isWithin } from "./specs.ts";

/** An asset as a catalog lists it. */
export interface CatalogAsset {
  id: string;
  type: string;
  name: string;
  role: string | null;
  path: string;
  /** Set on a copy that another one hides. */
  shadowedBy?: string;
}

/** A text file as it lies on disk, and how to read a stretch of its bytes. */
export interface CatalogText {
  readonly bytes: Uint8Array;
  decode(start: number, end: number): string;
}

/** The methods of a catalog that are needed: those of `@toolhaft/assets` fit. */
export interface FunctionCatalog<A extends CatalogAsset = CatalogAsset> {
  version(): Promise<string>;
  list(filter: { type?: "function" }): Promise<{ assets: readonly A[] }>;
  read(asset: A): Promise<CatalogText>;
}

/** Functions of a catalog that somebody else keeps up to date. */
export function catalogSpecs<A extends CatalogAsset>(
  catalog: FunctionCatalog<A>,
  options: { conditions?: ConditionRegistry } = {},
): FunctionSpecs {
  const registry = options.conditions ?? builtinConditions;
  let last: { version: string; specs: Promise<readonly FunctionSpec[]> } | undefined;

  const load = async (): Promise<readonly FunctionSpec[]> => {
    const version = await catalog.version();
    if (last?.version !== version) last = { version, specs: readAll() };
    const loaded = last;
    return loaded.specs.catch((error: unknown) => {
      // A catalog that failed is asked again.
      if (last === loaded) last = undefined;
      throw error;
    });
  };
  const readAll = async (): Promise<readonly FunctionSpec[]> => {
    const { assets } = await catalog.list({ type: "function" });
    const shown = assets.filter(({ type, shadowedBy }) => type === "function" && shadowedBy === undefined);
    const specs = await Promise.all(shown.map(specOf));
    return specs.flatMap((spec) => spec ?? []).sort(byPriority);
  };
  const specOf = async (asset: A): Promise<FunctionSpec | undefined> => {
    const file = await catalog.read(asset);
    const text = file.decode(0, file.bytes.length);
    const { role, path } = asset;
    // Entries of role.yaml have an id that ends in #name.
    const { value, problems } = asset.id.includes("#")
      ? { value: inlineFunction(text, asset, registry), problems: [] }
      : parseFunction(text, `${asset.name}.md`, registry);
    if (!value) return undefined;
    const errors = problems.filter(({ severity }) => severity === "error");
    return {
      ...value,
      id: role === null ? value.name : `${role}/${value.name}`,
      role,
      path,
      problems: errors.map(({ rule, message, hint }) => `${rule}: ${message}; ${hint}`),
    };
  };
  return {
    async list(scope) {
      const all = await load();
      return scope === undefined ? all : all.filter(({ role }) => isWithin(role, scope));
    },
    version: () => catalog.version(),
  };
}

/** The entry of a `role.yaml`; the file may be that of a role above. */
function inlineFunction(text: string, { name, role }: CatalogAsset, conditions: ConditionRegistry): Format | undefined {
  for (let id = role ?? ""; id !== ""; id = id.slice(0, Math.max(0, id.lastIndexOf("/")))) {
    const { value } = parseRole(text, id, { conditions });
    const found = value && within(value, role).find((spec) => spec.name === name);
    if (found) return found;
  }
  return undefined;
}

function within(spec: RoleSpec, role: string | null): readonly Format[] {
  return spec.id === role ? spec.inlineFunctions : spec.subagents.flatMap((below) => within(below, role));
}
