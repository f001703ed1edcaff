import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { type Finding, parseSkill, skillNameFault, writeSkill } from "@toolhaft/asset-format";
import { type FileChange, type ToolContext, ToolError } from "@toolhaft/core";
import { checkText, invalid } from "../checks.ts";
import type { Desk } from "../desk.ts";
import { type AssetRef, refOf } from "../model.ts";
import { checkedParts, shownPath } from "../paths.ts";
import { notTextReason } from "../stores/directory/read-bytes.ts";
import type { Writers } from "../writers.ts";
import type { ChangeOutcome, Changer, MatchTold } from "./change.ts";
import { patched } from "./patch-text.ts";
import { createPlaces, isIn, type Place } from "./places.ts";
import type { EvolveOutput } from "./schemas.ts";
import {
  checkBody,
  checkSkill,
  definingFile,
  fileOf,
  type Manifest,
  manifestOf,
  missingFile,
  rangesOf,
  refuseFolder,
  supportPath,
  withFile,
} from "./skill-checks.ts";

/** What all seven tools have in common. */
export interface ChangeInput {
  changelog: string;
  dry_run: boolean;
  expected_version?: number | undefined;
}

export interface EvolveData {
  catalogVersion: string;
  notes: string[];
  skill: AssetRef;
  op: EvolveOutput["op"];
  version: number;
  previous: number | null;
  restored?: number;
  match?: MatchTold;
  files: { path: string; bytes: number; sha256: string | null }[];
  findings: Finding[];
  diff: string;
  dryRun: boolean;
}

export interface EvolveResult {
  data: EvolveData;
  fileChanges: readonly FileChange[];
}

const mostFile = 1024 * 1024;

/** The seven changes of a skill. */
export interface Operations {
  create(
    ctx: ToolContext,
    input: ChangeInput & { name: string; manifest: Manifest; body: string },
  ): Promise<EvolveResult>;
  update(ctx: ToolContext, input: ChangeInput & { name: string; body: string }): Promise<EvolveResult>;
  patch(
    ctx: ToolContext,
    input: ChangeInput & { name: string; old_string: string; new_string: string; replace_all: boolean; file: string },
  ): Promise<EvolveResult>;
  remove(ctx: ToolContext, input: ChangeInput & { name: string }): Promise<EvolveResult>;
  rollback(
    ctx: ToolContext,
    input: ChangeInput & { name: string; version?: number | undefined },
  ): Promise<EvolveResult>;
  writeFile(
    ctx: ToolContext,
    input: ChangeInput & { skill: string; path: string; body: string },
  ): Promise<EvolveResult>;
  removeFile(ctx: ToolContext, input: ChangeInput & { skill: string; path: string }): Promise<EvolveResult>;
}

export function createOperations(desk: Desk, writers: Writers, changer: Changer): Operations {
  const { placeOf, newFolder, newRef } = createPlaces(desk, writers);
  return {
    async create(ctx, input) {
      const name = checkText("name", input.name, 64, '"pdf-forms"');
      const fault =
        skillNameFault(name) ??
        (/^[\x00-\x7f]*$/.test(name) ? undefined : "it is not ASCII, and some clients refuse that");
      if (fault !== undefined)
        throw invalid(`name: "${name}" is no name of a skill: ${fault}`, "use a-z, 0-9 and single hyphens inside");
      checkBody(input.body);
      const text = writeSkill({ name, ...manifestOf(input.manifest) }, input.body);
      checkSkill(text, name);
      const view = await desk.view(ctx);
      const folder = newFolder(ctx, name);
      const taken = (): ToolError =>
        new ToolError("conflict", `there is a skill ${name} already at ${shownPath(folder, view.directory)}`, {
          hint: "choose another name, or use skill_evolve_update",
          retryable: false,
        });
      if (
        isFile(folder) ||
        view.assets.some(
          (asset) =>
            asset.type === "skill" && asset.name === name && asset.role === null && isIn(view, asset, dirname(folder)),
        )
      )
        throw taken();
      return run(ctx, { folder, name }, "create", input, (current) => {
        // Looked at only here: by now what a process left that died while it made the skill is gone or whole.
        if (current.size > 0) throw taken();
        return { tree: new Map([["SKILL.md", fileOf(text)]]) };
      });
    },

    async update(ctx, input) {
      checkBody(input.body);
      const place = await placeOf(ctx, input.name);
      return run(ctx, place, "update", input, (current) => {
        const { path, file } = definingFile(current);
        const before = file.bytes.toString("utf8");
        const { document } = parseSkill(before, place.name);
        if (!document.document)
          throw invalid(
            `the header of ${place.name} does not parse: ${document.problems[0]?.message ?? ""}`,
            "repair it with skill_evolve_patch or asset_validate first",
          );
        const text = before.slice(0, document.bodyStart) + input.body;
        checkSkill(text, place.name);
        return { tree: withFile(current, path, { bytes: Buffer.from(text), mode: file.mode }) };
      });
    },

    async patch(ctx, input) {
      if (input.old_string === "") throw invalid("old_string: it is empty", "give the text to be replaced");
      if (input.old_string === input.new_string) throw invalid("new_string: it equals old_string", "give another text");
      const place = await placeOf(ctx, input.name);
      return run(ctx, place, "patch", input, (current) => {
        const path = input.file === "SKILL.md" ? definingFile(current).path : checkedParts(input.file).join("/");
        const file = current.get(path);
        if (!file) throw missingFile(place.name, path, current);
        if (notTextReason(file.bytes) !== undefined)
          throw new ToolError("unsupported", `${path} is ${notTextReason(file.bytes)}, ${file.bytes.length} bytes`, {
            hint: "only text can be patched",
          });
        const { bytes, match } = patched(file.bytes, input, path);
        if (path === definingFile(current).path)
          checkSkill(
            bytes.toString("utf8"),
            place.name,
            parseSkill(file.bytes.toString("utf8"), place.name).value?.name,
          );
        return { tree: withFile(current, path, { bytes, mode: file.mode }), match };
      });
    },

    async remove(ctx, input) {
      const place = await placeOf(ctx, input.name);
      const view = await desk.view(ctx);
      const next = view.assets.find(({ shadowedBy }) => shadowedBy !== undefined && shadowedBy === place.asset?.id);
      const result = await run(ctx, place, "delete", input, () => ({ tree: new Map() }));
      if (next) result.data.notes.push(`${next.id} was shadowed and becomes visible`);
      return result;
    },

    async rollback(ctx, input) {
      const place = await placeOf(ctx, input.name, true);
      return run(ctx, place, "rollback", input, (_, history, treeOf) => {
        const head = history.at(-1);
        if (!head)
          throw new ToolError("not_found", `${place.name} has no history`, {
            hint: "only what was changed with these tools has one",
          });
        const numbers = history.map(({ version }) => version);
        const wanted = input.version ?? history.find(({ version }) => version === head.origin)?.parent ?? undefined;
        if (wanted === undefined)
          throw new ToolError(
            "conflict",
            `there is nothing older than version ${head.version} of ${place.name} to go back to`,
            { hint: `versions: ${numbers.join(", ")}`, retryable: false },
          );
        const target = history.find(({ version }) => version === wanted);
        if (!target) {
          const code = input.version === undefined ? "conflict" : "not_found";
          throw new ToolError(code, `${place.name} has no version ${wanted}`, {
            hint: `versions: ${rangesOf(numbers)}`,
            retryable: false,
            details: { versions: numbers },
          });
        }
        return { tree: treeOf(target.version), origin: target.origin, restored: target.version };
      });
    },

    async writeFile(ctx, input) {
      const bytes = Buffer.from(input.body);
      if (bytes.length > mostFile)
        throw new ToolError("too_large", `body: ${bytes.length} bytes; the most is ${mostFile}`, {
          hint: "split the file",
        });
      const path = supportPath(input.path);
      const place = await placeOf(ctx, input.skill);
      return run(ctx, place, "write_file", input, (current) => {
        refuseFolder(current, path);
        return { tree: withFile(current, path, { bytes, mode: current.get(path)?.mode ?? 0o644 }) };
      });
    },

    async removeFile(ctx, input) {
      const path = supportPath(input.path);
      const place = await placeOf(ctx, input.skill);
      return run(ctx, place, "remove_file", input, (current) => {
        if (!current.has(path)) throw missingFile(place.name, path, current);
        const tree = new Map(current);
        tree.delete(path);
        return { tree };
      });
    },
  };

  async function run(
    ctx: ToolContext,
    place: Place,
    op: EvolveOutput["op"],
    input: ChangeInput,
    plan: Parameters<Changer["run"]>[1]["plan"],
  ): Promise<EvolveResult> {
    if ([...input.changelog].length > 500)
      throw invalid(`changelog: ${[...input.changelog].length} characters; the most is 500`, "say it shorter");
    const outcome = await changer.run(ctx, {
      folder: place.folder,
      name: place.name,
      op,
      changelog: input.changelog,
      dryRun: input.dry_run,
      expectedVersion: input.expected_version,
      permission: op === "delete" ? "skill.delete" : "skill.write",
      plan,
    });
    return told(ctx, place, op, input, outcome);
  }

  async function told(
    ctx: ToolContext,
    place: Place,
    op: EvolveOutput["op"],
    input: ChangeInput,
    outcome: ChangeOutcome,
  ): Promise<EvolveResult> {
    const view = await desk.view(ctx);
    const now = view.assets.find((asset) => asset.type === "skill" && dirname(view.realPath(asset)) === place.folder);
    const { planned } = outcome;
    const data: EvolveData = {
      catalogVersion: view.version,
      notes: [...view.notes],
      skill: now ? refOf(now) : place.asset ? refOf(place.asset) : newRef(ctx, place),
      op,
      version: outcome.version,
      previous: outcome.previous,
      ...(planned.restored !== undefined && { restored: planned.restored }),
      ...(planned.match && { match: planned.match }),
      files: outcome.files,
      findings: [...outcome.findings],
      diff: outcome.diff,
      dryRun: input.dry_run,
    };
    return { data, fileChanges: outcome.fileChanges };
  }
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
}
