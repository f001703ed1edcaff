// A plugin for opencode: put this file into .opencode/plugin/, and "@toolhaft/adapters", "@toolhaft/hashline" and
// "@opencode-ai/plugin" into .opencode/package.json.
import { tool } from "@opencode-ai/plugin/tool";
import { toOpencode } from "@toolhaft/adapters/opencode";
import { createHashline } from "@toolhaft/hashline";

/** Edits by anchors beside opencode's own; they ask by opencode's own permissions. */
export const Toolhaft = async () => ({ tool: toOpencode(createHashline(), { tool }) });
