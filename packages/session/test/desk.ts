import { join } from "node:path";
import type { Asker } from "@toolhaft/core";
import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { afterEach, beforeEach } from "vitest";
import {
  claudeCodeStore,
  codexStore,
  createSessions,
  opencodeStore,
  type Sessions,
  type SessionsOptions,
} from "../src/index.ts";

export interface Desk {
  readonly directory: string;
  /** Folders of the hosts, inside the temporary workspace. */
  readonly claude: string;
  readonly codex: string;
  readonly opencode: string;
  open(options?: SessionsOptions): Sessions;
  // biome-ignore lint/suspicious/noExplicitAny: tests read data of every tool
  data(name: string, input: object, extra?: object): Promise<any>;
  call(name: string, input: object, extra?: object): ReturnType<Sessions["tools"][number]["call"]>;
}

export const yes: Asker = async () => ({ allow: true });

/** A workspace with folders for each host, and the family over all of them; made anew for each test. */
export function useDesk(): Desk {
  let workspace: TempWorkspace;
  let sessions: Sessions | undefined;
  beforeEach(async () => {
    workspace = await tempWorkspace();
    sessions = undefined;
  });
  afterEach(async () => {
    await sessions?.close();
    await workspace[Symbol.asyncDispose]();
  });
  const desk: Desk = {
    get directory() {
      return workspace.directory;
    },
    get claude() {
      return join(workspace.directory, "hosts", "claude");
    },
    get codex() {
      return join(workspace.directory, "hosts", "codex");
    },
    get opencode() {
      return join(workspace.directory, "hosts", "opencode");
    },
    open(options = {}) {
      sessions = createSessions({
        stores: [
          claudeCodeStore({ roots: [desk.claude] }),
          codexStore({ home: desk.codex }),
          opencodeStore({ data: desk.opencode }),
        ],
        // What is tested is never how fast the machine is.
        indexMs: 600_000,
        scanMs: 600_000,
        ...options,
      });
      return sessions;
    },
    call(name, input, extra = {}) {
      const tool = (sessions ?? desk.open()).tools.find((one) => one.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      return tool.call(input, { directory: workspace.directory, ...extra });
    },
    async data(name, input, extra) {
      const result = await desk.call(name, input, extra);
      if (!result.ok) throw new Error(result.text);
      return result.data;
    },
  };
  return desk;
}
