import { type Family, nearest } from "@toolhaft/core";
import { usageFault } from "./exit-codes.ts";

/** What the command line says to a family. */
export interface FamilyOptions {
  /** `--store`, or `TOOLHAFT_STORE`. */
  store?: string | undefined;
}

export interface FamilyEntry {
  name: string;
  /** Served when nobody names a family. */
  byDefault: boolean;
  /** Loads the package; making the family opens nothing. */
  load(options: FamilyOptions): Promise<Family>;
}

/** Every family this command knows; a new one is one line here and one dependency. */
export const registry: readonly FamilyEntry[] = [
  { name: "context", byDefault: true, load: async () => (await import("./project-context.ts")).createProjectContext() },
  { name: "functions", byDefault: true, load: async () => (await import("@toolhaft/functions")).createFunctions() },
  { name: "hashline", byDefault: true, load: async () => (await import("@toolhaft/hashline")).createHashline() },
  { name: "lsp-tools", byDefault: true, load: async () => (await import("@toolhaft/lsp-tools")).createLspTools() },
  { name: "memory", byDefault: true, load: async () => (await import("@toolhaft/memory")).createMemory() },
  { name: "session", byDefault: true, load: async () => (await import("@toolhaft/session")).createSessions() },
  { name: "web", byDefault: true, load: async () => (await import("@toolhaft/web")).createWeb() },
];

/** The families of some names: none means the default ones, `all` every one. */
export function chooseFamilies(
  names: readonly string[],
  known: readonly FamilyEntry[] = registry,
): readonly FamilyEntry[] {
  if (names.length === 0) return known.filter(({ byDefault }) => byDefault);
  if (names.includes("all")) return known;
  return [...new Set(names)].map((name) => {
    const entry = known.find((family) => family.name === name);
    if (entry !== undefined) return entry;
    const all = known.map((family) => family.name);
    const near = nearest(name, all);
    throw usageFault(
      `unknown family "${name}"${near.length > 0 ? `: did you mean ${near.join(", ")}?` : ""} There are: ${all.join(", ")}, all`,
    );
  });
}
