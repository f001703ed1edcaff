import { tool } from "@opencode-ai/plugin/tool";
import type { Host } from "../../test/conformance.ts";
import { opencodeHost, runOpencode } from "../../test/hosts/opencode.ts";

export const hosts: readonly Host[] = [
  { ...opencodeHost, name: "the plugin package of opencode", run: (turn) => runOpencode(turn, tool as never) },
];
