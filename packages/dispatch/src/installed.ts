import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { AgentDirectory, AgentSpec } from "./agents.ts";
import { claude } from "./runners/claude.ts";
import { codex } from "./runners/codex.ts";
import { gemini } from "./runners/gemini.ts";
import { opencode } from "./runners/opencode.ts";
import type { PresetOptions } from "./runners/preset.ts";

const presets = { claude, codex, opencode, gemini } as const;
type PresetName = keyof typeof presets;

const descriptions: Readonly<Record<PresetName, string>> = {
  claude: "Claude Code: works on the files of this folder.",
  codex: "Codex: works on the files of this folder.",
  opencode: "opencode: works on the files of this folder.",
  gemini: "Gemini CLI: works on the files of this folder.",
};

/** The agent programs that are on the PATH, looked up at each question: for hosts whose composer listed none. */
export function installedAgents(options: Pick<PresetOptions, "access" | "trustDirectory"> = {}): AgentDirectory {
  const specs = (Object.keys(presets) as PresetName[]).map(
    (name): AgentSpec => ({ name, description: descriptions[name], runner: presets[name](options) }),
  );
  const get = async (name: string) => {
    const spec = specs.find((one) => one.name === name);
    return spec !== undefined && (await isInstalled(name)) ? spec : undefined;
  };
  return {
    get,
    async list() {
      const found = await Promise.all(specs.map(({ name }) => get(name)));
      return found.filter((spec) => spec !== undefined);
    },
  };
}

async function isInstalled(program: string): Promise<boolean> {
  const ends = process.platform === "win32" ? [".cmd", ".exe", ".bat"] : [""];
  for (const folder of (process.env.PATH ?? "").split(delimiter).filter(Boolean)) {
    for (const end of ends) {
      // Absent in this folder: the next one may have it.
      const found = await access(join(folder, program + end), constants.X_OK).then(
        () => true,
        () => false,
      );
      if (found) return true;
    }
  }
  return false;
}
