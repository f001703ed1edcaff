// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders themselves
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Json } from "./definition.ts";
import { pathToUri } from "./uris.ts";

export interface PlaceholderValues {
  root: string;
  /** The folder of an npm package, or `undefined` when it is not installed. */
  packageFolder(name: string): string | undefined;
  python: string | undefined;
}

/** Where servers may keep what they compute: outside every project. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "toolhaft", "lsp");
}

/** Fills a text; `undefined` when it needs something that is not there. */
export function fillText(text: string, values: PlaceholderValues): string | undefined {
  let missing = false;
  const filled = text.replace(/\$\{([^}]+)\}/g, (whole, name: string) => {
    const value = placeholderValue(name, values);
    if (value === null) return whole;
    if (value === undefined) missing = true;
    return value ?? "";
  });
  return missing ? undefined : filled;
}

function placeholderValue(name: string, values: PlaceholderValues): string | undefined | null {
  if (name === "root") return values.root;
  if (name === "root#") return createHash("sha256").update(values.root).digest("hex").slice(0, 16);
  if (name === "cache") return cacheFolder();
  if (name === "python") return values.python;
  if (name.startsWith("npm:")) return values.packageFolder(name.slice(4));
  return null;
}

/** Fills every text in a JSON value; a property whose text needs something absent is left out. */
export function fillJson(json: Json, values: PlaceholderValues): Json | undefined {
  if (typeof json === "string") {
    if (json === "${workspaceFolder}") {
      return { uri: pathToUri(values.root), name: values.root.split(/[\\/]/).pop() ?? values.root };
    }
    return fillText(json, values);
  }
  if (Array.isArray(json)) return json.map((item) => fillJson(item, values)).filter((item) => item !== undefined);
  if (typeof json !== "object" || json === null) return json;
  const filled: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(json)) {
    const one = fillJson(value, values);
    if (one !== undefined) filled[key] = one;
  }
  return filled;
}
