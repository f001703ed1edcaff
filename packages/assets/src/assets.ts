import type { AnyTool, Family } from "@toolhaft/core";
import { createDesk } from "./desk.ts";
import { createChanger } from "./evolve/change.ts";
import { createHistories } from "./evolve/histories.ts";
import { createOperations, type Operations } from "./evolve/operations.ts";
import type { AssetsOptions } from "./options.ts";
import { createReferenceTexts } from "./reference-texts.ts";
import type { AssetCatalog } from "./store.ts";
import { composeTool } from "./tools/compose.ts";
import { evolveCreateTool } from "./tools/evolve/create.ts";
import { evolveDeleteTool } from "./tools/evolve/delete.ts";
import { evolvePatchTool } from "./tools/evolve/patch.ts";
import { evolveRemoveFileTool } from "./tools/evolve/remove-file.ts";
import { evolveRollbackTool } from "./tools/evolve/rollback.ts";
import { evolveUpdateTool } from "./tools/evolve/update.ts";
import { evolveWriteFileTool } from "./tools/evolve/write-file.ts";
import { hotReloadTool } from "./tools/hot-reload.ts";
import { inspectTool } from "./tools/inspect.ts";
import { listSkillFilesTool } from "./tools/list-skill-files.ts";
import { readSkillFileTool, skillReadFileTool } from "./tools/read-skill-file.ts";
import { referenceSearchTool } from "./tools/reference-search.ts";
import { searchTool } from "./tools/search.ts";
import { validateTool } from "./tools/validate.ts";
import { createWriters } from "./writers.ts";

export interface Assets extends Family {
  readonly name: "assets";
  /** The catalog of the option `directory`, or of the working directory; that of the option `catalog` where one is given. */
  readonly catalog: AssetCatalog;
  /** Turns the tools that change skills off, for good. */
  freeze(): void;
}

/**
 * Finds, shows, checks and, with `evolve`, changes the files that steer an agent. Making it opens nothing; the first
 * call does.
 *
 * @example
 * await using assets = createAssets();
 * const [search] = assets.tools;
 * const found = await search?.call({ query: "release" }, { directory: process.cwd() });
 */
export function createAssets(options: AssetsOptions = {}): Assets {
  const desk = createDesk(options);
  const writers = createWriters(desk);
  const histories = createHistories(desk, writers);
  const changer = createChanger(desk, writers, histories);
  const cache = createReferenceTexts();
  const tools: AnyTool[] = [
    searchTool(desk),
    inspectTool(desk, histories),
    validateTool(desk, writers),
    hotReloadTool(desk),
    composeTool(desk),
    referenceSearchTool(desk, cache),
    listSkillFilesTool(desk),
    readSkillFileTool(desk),
  ];
  if (options.evolve) tools.push(skillReadFileTool(desk), ...evolveTools(createOperations(desk, writers, changer)));
  const close = async (): Promise<void> => {
    histories.close();
    cache.clear();
    await writers.close();
    await desk.close();
  };
  return {
    name: "assets",
    tools,
    get catalog() {
      return desk.catalogOf(options.directory ?? process.cwd());
    },
    freeze: () => changer.freeze(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function evolveTools(operations: Operations): AnyTool[] {
  return [
    evolveCreateTool(operations),
    evolveUpdateTool(operations),
    evolvePatchTool(operations),
    evolveDeleteTool(operations),
    evolveRollbackTool(operations),
    evolveWriteFileTool(operations),
    evolveRemoveFileTool(operations),
  ];
}
