import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { type Finding, parseSkill, skillNameFault, writeSkill } from "@toolhaft/asset-format";
import { type FileChange, nearest, type ToolContext, ToolError } from "@toolhaft/core";
import { findText, parseText, replaceText, type TextMatch, type TextModel } from "@toolhaft/workspace";
import { checkText, invalid } from "../checks.ts";
import type { Desk } from "../desk.ts";
import { type Asset, type AssetRef, refOf } from "../model.ts";
import { checkedParts, isInside, shownPath } from "../paths.ts";
import { notTextReason } from "../stores/directory/read-bytes.ts";
import { realOrSame, slashes } from "../stores/directory/roots.ts";
import type { View } from "../view.ts";
import type { Writers } from "../writers.ts";
import type { ChangeOutcome, Changer, MatchTold } from "./change.ts";
import type { EvolveOutput } from "./schemas.ts";
import { exists, type Tree, type TreeFile } from "./tree.ts";

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

export interface Manifest {
  description: string;
  license?: string | undefined;
  compatibility?: string | undefined;
  metadata?: Record<string, string> | undefined;
  allowed_tools?: string | string[] | undefined;
  disallowed_tools?: string | string[] | undefined;
}

const mostBody = 160_000;
const mostFile = 1024 * 1024;
const supportFolders = ["references", "templates", "scripts", "assets"];

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

interface Place {
  /** Real folder. */
  folder: string;
  name: string;
  /** Undefined while the skill is not there. */
  asset?: Asset;
}

export function createOperations(desk: Desk, writers: Writers, changer: Changer): Operations {
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
      if (
        exists(folder) ||
        view.assets.some(
          (asset) =>
            asset.type === "skill" && asset.name === name && asset.role === null && isIn(view, asset, dirname(folder)),
        )
      )
        throw new ToolError("conflict", `there is a skill ${name} already at ${shownPath(folder, view.directory)}`, {
          hint: "choose another name, or use skill_evolve_update",
          retryable: false,
        });
      return run(ctx, { folder, name }, "create", input, () => ({ tree: new Map([["SKILL.md", fileOf(text)]]) }));
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

  /** The skill that a name means, in a writable root; with `deleted` also one that is only in the history. */
  async function placeOf(ctx: ToolContext, given: string, deleted = false): Promise<Place> {
    const name = checkText("name", given, 300, '"pdf-forms"');
    const view = await desk.view(ctx);
    const asset = view.lookUp("skill", name);
    if (!asset && deleted) {
      const plain = name.replace(/^skill:/, "").replace(/\/(?:SKILL|skill)\.md$/, "");
      const folder = name === plain ? newFolder(ctx, name) : resolve(view.directory, plain);
      return { folder: realOrSame(folder), name: basename(folder) };
    }
    if (!asset) {
      view.find("skill", name);
      throw new ToolError("not_found", `there is no skill ${name}`);
    }
    if (!writers.isWritable(ctx, asset))
      throw new ToolError("denied", `${asset.path} lies in the read-only root ${asset.root}`, {
        hint: "copy the skill into a writable root",
      });
    return { folder: dirname(view.realPath(asset)), name: asset.name, asset };
  }

  /** Where a new skill goes. */
  function newFolder(ctx: ToolContext, name: string): string {
    const directory = desk.directoryOf(ctx);
    const { evolve } = desk.options;
    const given = typeof evolve === "object" ? evolve.root : undefined;
    const roots = desk.directoryCatalog(ctx)?.roots;
    if (!roots)
      throw new ToolError("unsupported", "this catalog has no writable root", {
        hint: "skills can be changed in folders only",
      });
    if (given !== undefined) return join(realOrSame(resolve(directory, given)), name);
    const parts = roots
      .filter(({ writable }) => writable)
      .flatMap(({ parts: found }) => found.filter(({ part }) => part === "skills"));
    const first = parts.find(({ path }) => exists(path));
    if (!first && parts.length === 0)
      throw new ToolError("denied", "no root is writable", { hint: "give a writable root in the options" });
    return join(realOrSame(first?.path ?? join(directory, ".agents", "skills")), name);
  }

  function newRef(ctx: ToolContext, { folder, name }: Place): AssetRef {
    const directory = desk.directoryOf(ctx);
    const path = shownPath(join(folder, "SKILL.md"), directory);
    const roots = desk.directoryCatalog(ctx)?.roots ?? [];
    const root = roots.find((one) => isInside(realOrSame(one.path), folder));
    return {
      id: `skill:${path}`,
      type: "skill",
      name,
      role: null,
      root: root?.label ?? slashes(relative(directory, dirname(folder))),
      path,
    };
  }
}

function isIn(view: View, asset: Asset, folder: string): boolean {
  const path = isAbsolute(asset.path) ? asset.path : join(view.directory, asset.path);
  return dirname(dirname(path)) === folder;
}

function fileOf(text: string): TreeFile {
  return { bytes: Buffer.from(text), mode: 0o644 };
}

function withFile(tree: Tree, path: string, file: TreeFile): Tree {
  return new Map([...tree, [path, file]]);
}

function manifestOf({
  description,
  license,
  compatibility,
  metadata,
  allowed_tools: allowed,
  disallowed_tools: disallowed,
}: Manifest) {
  return {
    description,
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(metadata !== undefined && { metadata }),
    ...(allowed !== undefined && { "allowed-tools": allowed }),
    ...(disallowed !== undefined && { "disallowed-tools": disallowed }),
  };
}

function checkBody(body: string): void {
  const length = [...body].length;
  if (length > mostBody)
    throw invalid(`body: ${length} characters; the most is ${mostBody}`, "move parts into references");
  if (/^\s*---[ \t]*\r?(?:\n|$)/.test(body.replace(/^\ufeff/, "")))
    throw invalid("body: it opens a second frontmatter", "give the text below the header only");
}

/** @throws ToolError `invalid_input` when a text is no valid `SKILL.md`, or its name changed */
function checkSkill(text: string, folder: string, oldName?: string): void {
  const { problems, value } = parseSkill(text, folder);
  const fault = problems.find(({ severity }) => severity === "error");
  if (fault)
    throw invalid(
      `the result is no valid skill: ${fault.rule} at ${fault.line ?? 1}:${fault.column ?? 1}: ${fault.message}`,
      fault.hint,
    );
  if (oldName !== undefined && value?.name !== oldName && oldName === folder)
    throw invalid(
      `the result changes the name from ${oldName} to ${value?.name ?? "none"}`,
      "create a skill of the new name",
    );
}

function definingFile(tree: Tree): { path: string; file: TreeFile } {
  for (const path of ["SKILL.md", "skill.md"]) {
    const file = tree.get(path);
    if (file) return { path, file };
  }
  throw new ToolError("conflict", "SKILL.md is gone", { hint: "search again" });
}

function supportPath(path: string): string {
  const parts = checkedParts(path);
  const [folder] = parts;
  if (folder === undefined || !supportFolders.includes(folder) || parts.length < 2)
    throw invalid(`path: ${path} is not below one of ${supportFolders.join("/, ")}/`, "such as references/guide.md");
  return parts.join("/");
}

function refuseFolder(tree: Tree, path: string): void {
  const inside = [...tree.keys()].find((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
  if (inside !== undefined) throw invalid(`path: ${path} and ${inside} cannot both be files`, "choose another path");
}

function missingFile(name: string, path: string, tree: Tree): ToolError {
  const known = [...tree.keys()].filter((other) => !/^skill\.md$/i.test(other));
  const near = nearest(path, known, 5);
  const hint =
    known.length === 0
      ? "it has no files besides SKILL.md"
      : `there ${known.length === 1 ? "is" : "are"} ${known.slice(0, 20).join(", ")}${near.length > 0 && known.length > 20 ? `; did you mean ${near.join(", ")}?` : ""}`;
  return new ToolError("not_found", `skill ${name} has no file ${path}`, {
    hint,
    details: { near, files: known.slice(0, 20) },
  });
}

function rangesOf(numbers: readonly number[]): string {
  const [first, last] = [numbers[0], numbers.at(-1)];
  const whole = first !== undefined && last !== undefined && last - first + 1 === numbers.length;
  return whole && first !== last ? `${first}–${last}` : numbers.join(", ");
}

/** Replaces a text where it is found: in the body when it is there, else also in the header. */
function patched(
  bytes: Buffer,
  {
    old_string: needle,
    new_string: replacement,
    replace_all: all,
  }: { old_string: string; new_string: string; replace_all: boolean },
  path: string,
): { bytes: Buffer; match: MatchTold } {
  const file = parseText(bytes);
  // Two expected places keep the anchors out, which find one block.
  const found = findText(file, needle, all ? { expected: 2 } : {});
  if (found.kind === "missing") throw notFound(found, path);
  const body = bodyStart(file, path);
  const inBody = found.places.filter(({ start }) => start >= body);
  const places = inBody.length > 0 ? inBody : found.places;
  if (!all && places.length > 1) {
    const lines = places.map(({ startLine }) => startLine);
    throw new ToolError(
      "conflict",
      `the text is in ${path} ${places.length} times, in lines ${lines.slice(0, 20).join(", ")}${lines.length > 20 ? " …" : ""}`,
      {
        hint: "send more of the text around the right place, or replace_all",
        retryable: false,
        details: { lines: lines.slice(0, 100) },
      },
    );
  }
  if (places.some((place, index) => place.start < (places[index - 1]?.end ?? 0)))
    throw new ToolError("conflict", `the places of the text in ${path} overlap`, {
      hint: "send more of the text around one place",
      retryable: false,
    });
  const similarity = found.similarity ?? 1;
  const { bytes: after } = replaceText(
    file,
    { kind: "found", strategy: found.strategy, places, total: places.length },
    needle,
    replacement,
  );
  return {
    bytes: Buffer.from(after),
    match: {
      strategy: found.strategy,
      similarity,
      places: places.map(({ startLine, endLine }) => ({ startLine, endLine })),
    },
  };
}

function bodyStart(file: TextModel, path: string): number {
  if (!/^skill\.md$/i.test(path)) return 0;
  const text = Buffer.from(file.bytes).toString("utf8");
  const { document } = parseSkill(text, "");
  return document.document ? Buffer.byteLength(text.slice(0, document.bodyStart)) : 0;
}

function notFound(found: Extract<TextMatch, { kind: "missing" }>, path: string): ToolError {
  const { closest } = found;
  const places = closest.map(({ line, endLine, similarity }) => `lines ${line}–${endLine} (similarity ${similarity})`);
  const diffs = closest.map(({ diff }) => diff.slice(Math.max(0, diff.indexOf("@@"))).trimEnd()).join("\n");
  return new ToolError(
    "conflict",
    `the text is not in ${path}${closest.length > 0 ? `; nearest: ${places.join(", ")}\n${diffs}` : ""}`,
    {
      hint: closest.length > 0 ? "copy the text from there" : "read the file again",
      retryable: false,
      details: { closest: closest.map((one) => ({ ...one })) },
    },
  );
}
