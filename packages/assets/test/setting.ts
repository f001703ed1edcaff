import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type AnyTool, type ContextInit, createContext, type ToolResult } from "@toolhaft/core";
import { snapshotOf } from "@toolhaft/testing";
import { onTestFinished } from "vitest";
import { type Assets, type AssetsOptions, createAssets } from "../src/index.ts";

/** A real folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolhaft-assets-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const names = {
  search: "asset_search",
  inspect: "asset_inspect",
  validate: "asset_validate",
  reload: "asset_hot_reload",
  compose: "skill_compose",
  refs: "reference_search",
  list: "list_skill_files",
  read: "read_skill_file",
  readFile: "skill_read_file",
  create: "skill_evolve_create",
  update: "skill_evolve_update",
  patch: "skill_evolve_patch",
  delete: "skill_evolve_delete",
  rollback: "skill_evolve_rollback",
  write: "skill_evolve_write_file",
  remove: "skill_evolve_remove_file",
} as const;

/** Everything may be written without a question. */
export const allowing = (directory: string): ContextInit => ({ directory, asker: async () => ({ allow: true }) });

export interface Setting {
  directory: string;
  family: Assets;
  path(relative: string): string;
  file(relative: string, content: string | Uint8Array, mode?: number): void;
  link(relative: string, target: string): void;
  /** `.agents/skills/<name>/SKILL.md` as in the notation of the cases. */
  skill(name: string, lines?: string, body?: string): void;
  role(id: string, lines?: string): void;
  /** A function, of a role when the name holds a slash. */
  fn(name: string, lines?: string, body?: string): void;
  ref(place: string, text: string | Uint8Array): void;
  call(tool: keyof typeof names, input?: Record<string, unknown>, init?: ContextInit): Promise<ToolResult>;
  /** Data of a success. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read many shapes of data
  data(tool: keyof typeof names, input?: Record<string, unknown>, init?: ContextInit): Promise<any>;
  error(
    tool: keyof typeof names,
    input?: Record<string, unknown>,
    init?: ContextInit,
  ): Promise<{ code: string; message: string; hint?: string }>;
  tree(): ReadonlyMap<string, string>;
}

export function setting(options: AssetsOptions = {}, directory = temporaryFolder()): Setting {
  const family = createAssets(options);
  onTestFinished(() => family.close());
  const session = createContext(allowing(directory));
  const path = (relative: string): string => join(directory, relative);
  const file = (relative: string, content: string | Uint8Array, mode?: number): void => {
    mkdirSync(dirname(path(relative)), { recursive: true });
    writeFileSync(path(relative), content);
    if (mode !== undefined) chmodSync(path(relative), mode);
  };
  const call = (
    tool: keyof typeof names,
    input: Record<string, unknown> = {},
    init: ContextInit = {},
  ): Promise<ToolResult> => {
    const found = family.tools.find(({ name }) => name === names[tool]);
    if (!found) throw new Error(`no tool ${names[tool]}`);
    return (found as AnyTool).call(input, { ...session, ...init });
  };
  return {
    directory,
    family,
    path,
    file,
    link(relative, target) {
      mkdirSync(dirname(path(relative)), { recursive: true });
      symlinkSync(target, path(relative));
    },
    skill(name, lines = "", body = `# ${name}\n`) {
      file(
        `.agents/skills/${name}/SKILL.md`,
        `---\nname: ${name}\ndescription: about ${name}\n${withEnd(lines)}---\n${body}`,
      );
    },
    role(id, lines = "") {
      const folder = id.split("/").join("/subagents/");
      file(`.agents/roles/${folder}/role.yaml`, `name: ${id.split("/").at(-1)}\nprompt: p\n${withEnd(lines)}`);
    },
    fn(name, lines = "", body) {
      const parts = name.split("/");
      const own = parts.at(-1) ?? name;
      const folder =
        parts.length > 1 ? `.agents/roles/${parts.slice(0, -1).join("/subagents/")}/functions` : ".agents/functions";
      file(`${folder}/${own}.md`, `---\n${lines === "" ? "{}\n" : withEnd(lines)}---\n${body ?? `Do ${own}.`}`);
    },
    ref(place, text) {
      const [role, ...rest] = place.split("/");
      file(`.agents/roles/${role}/references/${rest.join("/")}`, text);
    },
    call,
    async data(tool, input, init) {
      const result = await call(tool, input, init);
      if (!result.ok) throw new Error(result.text);
      return result.data;
    },
    async error(tool, input, init) {
      const result = await call(tool, input, init);
      if (result.ok) throw new Error(`expected a failure, got: ${result.text}`);
      return result.error;
    },
    tree: () => snapshotOf(directory),
  };
}

function withEnd(lines: string): string {
  return lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`;
}

/** Names of found assets. */
export const found = (data: { results: { asset: { name: string } }[] }): string[] =>
  data.results.map(({ asset }) => asset.name);
export const rules = (data: { issues: { rule: string }[] }): string[] => data.issues.map(({ rule }) => rule);
