import { existsSync, readdirSync, statSync } from "node:fs";
import { type FileChange, ToolError } from "@toolhaft/core";
import type { TextFile } from "@toolhaft/workspace";
import type { WorkspaceEdit } from "vscode-languageserver-protocol";
import type { EditData, EditedFile } from "../answer.ts";
import type { Call } from "../ask.ts";
import type { OpenFile } from "../open-file.ts";
import { shownIn } from "../places.ts";
import type { ServerLife } from "../server.ts";
import type { FileText } from "../texts.ts";
import { pathToUri, realPathOf } from "../uris.ts";
import { pathsOf, toChanges } from "./changes.ts";
import { type EditPlan, editPath, pathsOfEdit, planWorkspaceEdit } from "./plan.ts";
import type { PlannedChange, Snapshot } from "./world.ts";

export interface CommitOptions {
  dryRun: boolean;
  confirmAnnotated: boolean;
}

export type EditOutcome = Pick<EditData, "status" | "totalFiles" | "totalEdits" | "files" | "annotations"> & {
  diff?: string;
};

export interface CommittedEdit {
  outcome: EditOutcome;
  fileChanges: readonly FileChange[];
  plan: EditPlan;
}

interface Taken {
  snapshot: Snapshot;
  /** Of the bytes on disk; `undefined` where there is no text file. */
  version: string | undefined;
  text: FileText | undefined;
}

/**
 * Applies a server's edit whole, or not at all: simulated on snapshots, asked for, committed under the workspace's locks.
 *
 * @throws ToolError `conflict`, `denied`, `unsupported`, `not_found`; then nothing was written
 */
export async function commitWorkspaceEdit(
  call: Call,
  life: ServerLife,
  file: OpenFile | undefined,
  rawEdit: WorkspaceEdit,
  options: CommitOptions,
): Promise<CommittedEdit> {
  const workspace = call.engine.workspaceFor(call.scope.directory, call.scope.roots);
  const edit = withRealPaths(rawEdit);
  const taken = await takeSnapshots(call, life, pathsOfEdit(edit));
  const plan = planWorkspaceEdit(edit, (path) => taken.get(path)?.snapshot ?? lookAt(path));
  refuseUnconfirmed(plan, options);
  for (const change of plan.changes) refuseForeignBytes(change, taken);
  const paths = [...new Set(plan.changes.flatMap(pathsOf))];
  if (paths.length === 0) return { outcome: summarise(call, file, plan, [], options), fileChanges: [], plan };
  const committed = await workspace.edit(
    paths,
    (files) => {
      for (const path of paths) checkUnchanged(path, files, taken);
      return { changes: toChanges(plan.changes, files), result: undefined };
    },
    call.scope,
    { dryRun: options.dryRun, allowEmpty: true },
  );
  if (!options.dryRun) announce(call, plan);
  return {
    outcome: summarise(call, file, plan, committed.changes, options),
    fileChanges: options.dryRun ? [] : committed.changes,
    plan,
  };
}

/** One spelling for every path, so that operations on one file meet. */
function withRealPaths(edit: WorkspaceEdit): WorkspaceEdit {
  const real = (uri: string) => pathToUri(realPathOf(editPath(uri)));
  if (edit.documentChanges) {
    return {
      ...edit,
      documentChanges: edit.documentChanges.map((operation) => {
        if (!("kind" in operation)) {
          return { ...operation, textDocument: { ...operation.textDocument, uri: real(operation.textDocument.uri) } };
        }
        if (operation.kind === "rename")
          return { ...operation, oldUri: real(operation.oldUri), newUri: real(operation.newUri) };
        return { ...operation, uri: real(operation.uri) };
      }),
    };
  }
  const changes: NonNullable<WorkspaceEdit["changes"]> = {};
  for (const [uri, edits] of Object.entries(edit.changes ?? {}))
    changes[real(uri)] = [...(changes[real(uri)] ?? []), ...edits];
  return { ...edit, changes };
}

async function takeSnapshots(call: Call, life: ServerLife, paths: readonly string[]): Promise<Map<string, Taken>> {
  const taken = new Map<string, Taken>();
  for (const path of paths) {
    const seen = lookAt(path);
    if (seen.kind !== "file") {
      taken.set(path, { snapshot: seen, version: undefined, text: undefined });
      continue;
    }
    const text = await call.engine.texts.tryRead(path, call.scope);
    const open = life.documents.get(path);
    if (text && open && open.text !== text.source.text) {
      throw new ToolError("conflict", `${path} changed after the server was told of it`, {
        hint: "nothing was written; call again",
      });
    }
    const snapshot: Snapshot = {
      kind: "file",
      text: text?.source.text ?? "",
      ...(open && { documentVersion: open.version }),
    };
    taken.set(path, { snapshot, version: text?.version, text });
  }
  return taken;
}

function lookAt(path: string): Snapshot {
  if (!existsSync(path)) return { kind: "missing" };
  if (!statSync(path).isDirectory()) return { kind: "file", text: "" };
  return { kind: "folder", empty: readdirSync(path).length === 0 };
}

function refuseUnconfirmed(plan: EditPlan, options: CommitOptions): void {
  const waiting = plan.annotations.filter((one) => one.needsConfirmation);
  if (waiting.length === 0 || options.confirmAnnotated || options.dryRun) return;
  const rows = waiting.map(
    (one) => `${one.label}${one.description ? ` (${one.description})` : ""}: ${one.edits} edits`,
  );
  throw new ToolError("denied", `the edit has to be confirmed, nothing was written: ${rows.join("; ")}`, {
    hint: "look at it with dryRun: true, then call again with confirmAnnotated: true",
    details: { annotations: waiting },
  });
}

/** Text that is not UTF-8 can be read, but an edit would have to write it back. */
function refuseForeignBytes(change: PlannedChange, taken: ReadonlyMap<string, Taken>): void {
  if (change.operation !== "edit" && !(change.operation === "rename" && change.text !== undefined)) return;
  const text = taken.get(change.path)?.text;
  if (text?.editable) return;
  throw new ToolError("unsupported", `${change.path} is not valid UTF-8 text and cannot be edited`, {
    hint: "nothing was written",
  });
}

function checkUnchanged(
  path: string,
  files: ReadonlyMap<string, TextFile | undefined>,
  taken: ReadonlyMap<string, Taken>,
): void {
  const before = taken.get(path);
  if (!before || before.snapshot.kind === "folder" || (before.snapshot.kind === "file" && before.version === undefined))
    return;
  if (files.get(path)?.version === before.version) return;
  throw new ToolError("conflict", `${path} changed while the edit was planned`, {
    hint: "nothing was written; call again",
  });
}

/** Tells the servers that asked for it which files were created, renamed and deleted by us. */
function announce(call: Call, plan: EditPlan): void {
  const tell = (method: string, files: object[]) => {
    if (files.length === 0) return;
    for (const { life } of call.engine.entries) {
      const operations = life?.capabilities.workspace?.fileOperations as Record<string, unknown> | undefined;
      const name = method.slice("workspace/".length);
      if (life && !life.loss && (operations?.[name] !== undefined || life.registrations.has(method)))
        life.notify(method, { files });
    }
  };
  const of = <O extends PlannedChange["operation"]>(operation: O) =>
    plan.changes.filter((change): change is Extract<PlannedChange, { operation: O }> => change.operation === operation);
  tell(
    "workspace/didCreateFiles",
    of("create").map((change) => ({ uri: pathToUri(change.path) })),
  );
  tell(
    "workspace/didDeleteFiles",
    of("delete").map((change) => ({ uri: pathToUri(change.path) })),
  );
  tell(
    "workspace/didRenameFiles",
    of("rename").map((change) => ({ oldUri: pathToUri(change.path), newUri: pathToUri(change.to) })),
  );
}

function summarise(
  call: Call,
  file: OpenFile | undefined,
  plan: EditPlan,
  changes: readonly FileChange[],
  options: CommitOptions,
): EditOutcome {
  const shown = shownIn(call, file);
  const files = plan.changes.map((change): EditedFile => {
    const path = shown(change.path);
    const to = "to" in change ? shown(change.to) : undefined;
    const real = changes.find((one) => one.path === (to ?? path) || one.path === path);
    return {
      path,
      operation: change.operation,
      ...(to !== undefined && { to }),
      edits: "count" in change ? change.count : 0,
      added: real?.additions ?? 0,
      removed: real?.deletions ?? 0,
      lines: "lines" in change ? [...change.lines].sort((a, b) => a - b) : [],
    };
  });
  files.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  const status = plan.changes.length === 0 ? "no_change" : options.dryRun ? "preview" : "applied";
  return {
    status,
    totalFiles: files.length,
    totalEdits: files.reduce((sum, one) => sum + one.edits, 0),
    files,
    annotations: plan.annotations,
    ...(status === "preview" && { diff: changes.map((change) => change.diff).join("") }),
  };
}
