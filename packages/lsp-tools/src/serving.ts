import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Registry } from "./config.ts";
import type { ServerDefinition } from "./definition.ts";
import type { ServerEntry } from "./entry.ts";
import { type FileKind, languageFor } from "./languages.ts";
import type { LaunchPlan } from "./launch.ts";

/** A server that serves a file, under the language id it gives it. */
export interface Serving {
  definition: ServerDefinition;
  languageId: string;
  entry: ServerEntry;
  /** The server that this one asks through a bridge, when it serves the file too. */
  partner?: Serving;
}

/** A definition that would serve a file if its program were there. */
export interface Missing {
  definition: ServerDefinition;
  languageId: string;
  plan: LaunchPlan;
}

export interface ServingFile {
  serving: Serving[];
  missing: Missing[];
  registry: Registry;
}

/** Inside a group the preferred ones come first; the rest keeps the order of definitions. */
export function orderedDefinitions(registry: Registry): ServerDefinition[] {
  const rank = (definition: ServerDefinition) => {
    const wishes = definition.group === undefined ? undefined : registry.prefer[definition.group];
    const at = wishes?.indexOf(definition.id) ?? -1;
    return at < 0 ? Number.POSITIVE_INFINITY : at;
  };
  const order = new Map(registry.definitions.map((definition, index) => [definition.id, index]));
  return [...registry.definitions].sort((a, b) => {
    const byWish = a.group !== undefined && a.group === b.group ? rank(a) - rank(b) : 0;
    return Number.isNaN(byWish) || byWish === 0 ? (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0) : byWish;
  });
}

/** Languages of others that this server serves with a plugin. */
export function partnerLanguage(
  definitions: readonly ServerDefinition[],
  definition: ServerDefinition,
  file: FileKind,
): string | undefined {
  for (const other of definitions) {
    if (other.partner?.id !== definition.id) continue;
    const languageId = languageFor(other, file);
    if (languageId !== undefined && other.partner.languages.includes(languageId)) return languageId;
  }
  return undefined;
}

/** The plugins of partners: where the project uses them, or a file of theirs is asked about. */
export function partnerPlugins(
  definitions: readonly ServerDefinition[],
  definition: ServerDefinition,
  root: string,
  foreignFile: boolean,
): string[] {
  return definitions.flatMap((other) => {
    const { partner } = other;
    if (partner?.id !== definition.id || !(foreignFile || mentions(root, other.id))) return [];
    return [[partner.plugin, ...partner.languages].join(" ")];
  });
}

function mentions(root: string, name: string): boolean {
  try {
    return readFileSync(join(root, "package.json"), "utf8").includes(`"${name}"`);
  } catch {
    return false; // no package.json: nothing is mentioned
  }
}
