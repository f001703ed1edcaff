import { builtinConditions, type ConditionRegistry, parseFunction } from "@toolhaft/asset-format";
import { byPriority, type FunctionSpec, type FunctionSpecs, isWithin } from "./specs.ts";

/** An asset as a catalog lists it. */
export interface CatalogAsset {
  id: string;
  type: string;
  name: string;
  role: string | null;
  path: string;
}

/** The methods of a catalog that are needed: those of `@toolhaft/assets` fit. */
export interface FunctionCatalog<A extends CatalogAsset = CatalogAsset> {
  version(): Promise<string>;
  list(filter: { type?: "function" }): Promise<{ assets: readonly A[] }>;
  read(asset: A): Promise<{ text: string }>;
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
    const specs = await Promise.all(assets.filter(({ type }) => type === "function").map(specOf));
    return specs.flatMap((spec) => spec ?? []).sort(byPriority);
  };
  const specOf = async (asset: A): Promise<FunctionSpec | undefined> => {
    const { text } = await catalog.read(asset);
    const { value, problems } = parseFunction(text, `${asset.name}.md`, registry);
    if (!value) return undefined;
    const { role, path } = asset;
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
