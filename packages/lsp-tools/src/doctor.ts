import { createContext } from "@toolhaft/core";
import { Engine } from "./engine.ts";
import type { EngineOptions } from "./engine-options.ts";
import { beginCall } from "./open-file.ts";
import { missingServers } from "./status.ts";
import { serversOfFolder } from "./workspace-search.ts";

/** One line of `toolhaft doctor` about a language server. */
export interface LspCheck {
  id: string;
  /** `ok`: found. `missing`: not installed. `broken`: found, and of no use. */
  status: "ok" | "missing" | "broken";
  /** Where it was found, or why not. */
  detail: string;
  /** What to type. */
  install?: string;
}

/**
 * Which language servers the files of a folder need, and which of them are there. Starts and writes nothing.
 *
 * @param directory Absolute.
 */
export async function checkLanguageServers(directory: string, options: EngineOptions = {}): Promise<LspCheck[]> {
  // programs of the folder count as found: whether they may run is asked when they are to run
  const engine = new Engine({ ...options, trust: options.trust ?? "workspace" });
  try {
    const call = beginCall(engine, createContext({ directory }));
    const { found } = await serversOfFolder(call);
    const checks = new Map<string, LspCheck>();
    for (const { serving } of found) {
      const plan = await serving.entry.look(call.scope);
      const program = plan.launches[0]?.program ?? serving.definition.command;
      checks.set(serving.definition.id, { id: serving.definition.id, status: "ok", detail: program });
    }
    for (const one of await missingServers(call)) {
      const broken = one.reason.startsWith("does not work");
      checks.set(one.id, {
        id: one.id,
        status: broken ? "broken" : "missing",
        detail: one.reason,
        install: one.install.join(" && "),
      });
    }
    const { problems } = await engine.choices.registry(call.scope.directory);
    return [
      ...checks.values(),
      ...problems.map((detail) => ({ id: "configuration", status: "broken" as const, detail })),
    ];
  } finally {
    await engine.close();
  }
}
