import type { ErrorCode } from "@toolhaft/core";
import { ToolError } from "@toolhaft/core";
import { expect } from "vitest";
import {
  type Change,
  type Committed,
  type EditOptions,
  type Scope,
  spliceLines,
  type Workspace,
} from "../src/index.ts";

/** Replaces line `line` of a file. */
export function replaceLine(
  workspace: Workspace,
  path: string,
  line: number,
  text: readonly string[],
  scope: Scope,
  options?: EditOptions,
): Promise<Committed<undefined>> {
  return workspace.edit(
    [path],
    (files) => {
      const file = files.get(path);
      if (!file) throw new ToolError("not_found", `${path} is not there`);
      const { bytes, changes } = spliceLines(file, [{ at: line, remove: 1, insert: text }]);
      return { changes: [{ kind: "replace", path, bytes, lineChanges: changes }], result: undefined };
    },
    scope,
    options,
  );
}

/** Fixed changes over their own paths. */
export function change(
  workspace: Workspace,
  changes: readonly Change[],
  scope: Scope,
  options?: EditOptions,
): Promise<Committed<undefined>> {
  const paths = changes.flatMap((one) => (one.kind === "move" ? [one.path, one.to] : [one.path]));
  return workspace.edit(paths, () => ({ changes, result: undefined }), scope, options);
}

export const create = (path: string, text: string): Change => ({ kind: "create", path, bytes: Buffer.from(text) });

/** Expects a `ToolError` of this code whose message holds the words. */
export async function expectError(
  promise: Promise<unknown>,
  code: ErrorCode,
  words: string | RegExp = "",
): Promise<ToolError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ToolError);
  if (!(error instanceof ToolError)) throw error;
  expect(`${error.code}: ${error.message}`).toMatch(new RegExp(`^${code}: `));
  if (words instanceof RegExp) expect(error.message).toMatch(words);
  else expect(error.message).toContain(words);
  return error;
}
