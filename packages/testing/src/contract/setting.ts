import type { AnyTool, ContextInit, Family, ToolResult } from "@toolhaft/core";
import { createContext } from "@toolhaft/core";
import { type TempWorkspace, tempWorkspace } from "../temp-workspace.ts";
import type { Input, MakeTools, Setting, ToolFixtures, ValidFixture } from "./fixtures.ts";

type Prepared = Pick<ValidFixture, "files" | "prepare">;

/** Runs one check in a workspace and a family of its own, closed and removed afterwards. */
export async function inSetting(
  make: MakeTools,
  name: string,
  fixtures: ToolFixtures,
  fixture: Prepared,
  check: (setting: Setting) => Promise<void>,
): Promise<void> {
  const workspace = await tempWorkspace({ ...fixtures.files, ...fixture.files });
  let family: Family | readonly AnyTool[] | undefined;
  try {
    family = await make(workspace);
    const tools: readonly AnyTool[] = "tools" in family ? family.tools : family;
    const setting = settingOf(workspace, tools, name, fixtures);
    await fixtures.prepare?.(setting);
    await fixture.prepare?.(setting);
    await check(setting);
  } finally {
    if (family !== undefined && "close" in family) await family.close();
    await workspace.remove();
  }
}

function settingOf(workspace: TempWorkspace, tools: readonly AnyTool[], name: string, fixtures: ToolFixtures): Setting {
  const find = (wanted: string): AnyTool => {
    const found = tools.find((tool) => tool.name === wanted);
    if (found === undefined)
      throw new Error(`there is no tool ${wanted}; there are: ${tools.map((tool) => tool.name).join(", ")}`);
    return found;
  };
  const more = typeof fixtures.context === "function" ? fixtures.context(workspace) : fixtures.context;
  const context: ContextInit = createContext({
    directory: workspace.directory,
    sessionId: "01TESTSESSION0000000000000",
    ...more,
  });
  return {
    workspace,
    tool: find(name),
    context,
    async call(wanted, input) {
      const result: ToolResult = await find(wanted).call(input, context);
      if (!result.ok) throw new Error(`preparing with ${wanted} failed: ${result.text}`);
      return result;
    },
  };
}

export function inputOf(input: Input, setting: Setting): unknown {
  return typeof input === "function" ? input(setting) : structuredClone(input);
}
