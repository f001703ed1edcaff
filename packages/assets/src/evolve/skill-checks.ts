import { parseSkill } from "@toolhaft/asset-format";
import { nearest, ToolError } from "@toolhaft/core";
import { invalid } from "../checks.ts";
import { checkedParts } from "../paths.ts";
import type { Tree, TreeFile } from "./tree.ts";

export interface Manifest {
  description: string;
  license?: string | undefined;
  compatibility?: string | undefined;
  metadata?: Record<string, string> | undefined;
  allowed_tools?: string | string[] | undefined;
  disallowed_tools?: string | string[] | undefined;
}

const mostBody = 160_000;
const supportFolders = ["references", "templates", "scripts", "assets"];

export function fileOf(text: string): TreeFile {
  return { bytes: Buffer.from(text), mode: 0o644 };
}

export function withFile(tree: Tree, path: string, file: TreeFile): Tree {
  return new Map([...tree, [path, file]]);
}

export function manifestOf({
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

export function checkBody(body: string): void {
  const length = [...body].length;
  if (length > mostBody)
    throw invalid(`body: ${length} characters; the most is ${mostBody}`, "move parts into references");
  if (/^\s*---[ \t]*\r?(?:\n|$)/.test(body.replace(/^\ufeff/, "")))
    throw invalid("body: it opens a second frontmatter", "give the text below the header only");
}

/** @throws ToolError `invalid_input` when a text is no valid `SKILL.md`, or its name changed */
export function checkSkill(text: string, folder: string, oldName?: string): void {
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

export function definingFile(tree: Tree): { path: string; file: TreeFile } {
  for (const path of ["SKILL.md", "skill.md"]) {
    const file = tree.get(path);
    if (file) return { path, file };
  }
  throw new ToolError("conflict", "SKILL.md is gone", { hint: "search again" });
}

export function supportPath(path: string): string {
  const parts = checkedParts(path);
  const [folder] = parts;
  if (folder === undefined || !supportFolders.includes(folder) || parts.length < 2)
    throw invalid(`path: ${path} is not below one of ${supportFolders.join("/, ")}/`, "such as references/guide.md");
  return parts.join("/");
}

export function refuseFolder(tree: Tree, path: string): void {
  const inside = [...tree.keys()].find((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
  if (inside !== undefined) throw invalid(`path: ${path} and ${inside} cannot both be files`, "choose another path");
}

export function missingFile(name: string, path: string, tree: Tree): ToolError {
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

export function rangesOf(numbers: readonly number[]): string {
  const [first, last] = [numbers[0], numbers.at(-1)];
  const whole = first !== undefined && last !== undefined && last - first + 1 === numbers.length;
  return whole && first !== last ? `${first}–${last}` : numbers.join(", ");
}
