import { join } from "node:path";
import { ToolError } from "@toolhaft/core";
import { mergeRegistry, type Registry, readConfig } from "./config.ts";
import type { EngineOptions } from "./engine-options.ts";
import type { CallScope } from "./launch.ts";
import { builtinServers } from "./registry/index.ts";

/** How long what a folder's configuration says is taken as read. */
const registryMemoryMs = 2_000;

/** What a folder chooses by its configuration, and whether its own code may run. */
export interface FolderChoices {
  /** Definitions and choices that hold in a directory; read again when the memory is old. */
  registry(directory: string): Promise<Registry>;
  /** Whether code that a folder brings may run; asked once per root. */
  trusted(scope: CallScope, root: string): Promise<boolean>;
  /** Forgets all of it, so that the next call reads and asks anew. */
  forget(): void;
}

export function createFolderChoices(options: EngineOptions): FolderChoices {
  const registries = new Map<string, Promise<{ registry: Registry; loadedAt: number }>>();
  const answers = new Map<string, Promise<boolean>>();
  const load = async (directory: string) => {
    const { configFile } = options;
    const path = configFile === false ? undefined : (configFile ?? join(directory, "toolhaft.config.json"));
    const config = path === undefined ? { section: {}, problems: [] } : await readConfig(path);
    return { registry: mergeRegistry(builtinServers, config, options), loadedAt: performance.now() };
  };
  const ask = async (scope: CallScope, root: string): Promise<boolean> => {
    const reason = "run language servers, compilers and plugins that this folder itself brings";
    try {
      await scope.ask({ permission: "workspace.run", resources: [root], reason });
      return true;
    } catch (error) {
      if (error instanceof ToolError && error.code === "denied") return false;
      answers.delete(root);
      throw error;
    }
  };
  return {
    async registry(directory) {
      const known = await registries.get(directory);
      if (known && performance.now() - known.loadedAt < registryMemoryMs) return known.registry;
      const loading = load(directory);
      registries.set(directory, loading);
      return (await loading).registry;
    },
    trusted(scope, root) {
      if (options.trust === "workspace") return Promise.resolve(true);
      if (options.trust === "system") return Promise.resolve(false);
      const answer = answers.get(root) ?? ask(scope, root);
      answers.set(root, answer);
      return answer;
    },
    forget() {
      registries.clear();
      answers.clear();
    },
  };
}
