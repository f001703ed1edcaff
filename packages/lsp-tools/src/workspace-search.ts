import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { ToolError } from "@toolhaft/core";
import type { Call } from "./ask.ts";
import { languageFor } from "./languages.ts";
import type { Missing, Serving } from "./serving.ts";
import { skippedFolders } from "./skipped-folders.ts";
import type { FileText } from "./texts.ts";

/** Servers for a question about a whole folder, each with one file it may need to be opened. */
export interface FolderServers {
  found: { serving: Serving; sample: FileText }[];
  missing: Missing[];
}

const maxLooked = 4_000;
const maxDepth = 8;

/** The files of a folder, nearest first, without what tools write. */
export async function filesBelow(folder: string, max = maxLooked): Promise<string[]> {
  const files: string[] = [];
  let level = [folder];
  for (let depth = 0; depth < maxDepth && level.length > 0 && files.length < max; depth++) {
    const next: string[] = [];
    for (const one of level) {
      const entries = await readdir(one, { withFileTypes: true }).catch(() => []);
      for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        if (entry.isDirectory() && !skippedFolders.has(entry.name)) next.push(join(one, entry.name));
        else if (entry.isFile() && files.length < max) files.push(join(one, entry.name));
      }
    }
    level = next;
  }
  return files;
}

/** The servers of the kinds of files that lie in the directory: those of their main languages, one sample of each. */
export async function serversOfFolder(call: Call): Promise<FolderServers> {
  const { engine, scope } = call;
  const registry = await engine.choices.registry(scope.directory);
  const found = new Map<string, { serving: Serving; sample: FileText }>();
  const missing = new Map<string, Missing>();
  const looked = new Set<string>();
  for (const path of await filesBelow(scope.directory)) {
    const kind = extname(path) || path.slice(path.lastIndexOf("/") + 1);
    if (looked.has(kind)) continue;
    looked.add(kind);
    const known = registry.definitions.some(
      (definition) =>
        languageFor(definition, { path, overrides: registry.files, interpreter: undefined }) !== undefined,
    );
    if (!known) continue;
    const sample = await engine.texts.tryRead(path, scope);
    if (!sample) continue;
    const served = await engine.servingFor(scope, sample.path, sample.source.text);
    for (const serving of served.serving) {
      const key = `${serving.definition.id}\0${serving.entry.root}`;
      if (!found.has(key)) found.set(key, { serving, sample });
    }
    for (const one of served.missing) missing.set(one.definition.id, one);
  }
  return { found: [...found.values()], missing: [...missing.values()] };
}

export function nothingServed(): ToolError {
  return new ToolError("unsupported", "no file in this folder has a language server", {
    hint: "give filePath: a file of the project to search",
  });
}
