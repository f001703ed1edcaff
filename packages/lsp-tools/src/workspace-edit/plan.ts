import { ToolError } from "@toolhaft/core";
import type {
  AnnotatedTextEdit,
  ChangeAnnotation,
  CreateFile,
  DeleteFile,
  RenameFile,
  SnippetTextEdit,
  TextDocumentEdit,
  TextEdit,
  WorkspaceEdit,
} from "vscode-languageserver-protocol";
import { isInside, uriToPath } from "../uris.ts";
import { type PlannedChange, type SnapshotReader, World } from "./world.ts";

export interface PlannedAnnotation {
  label: string;
  description?: string | undefined;
  needsConfirmation: boolean;
  edits: number;
}

/** A `WorkspaceEdit` simulated on snapshots: what changes, without having changed anything. */
export interface EditPlan {
  changes: PlannedChange[];
  annotations: PlannedAnnotation[];
  totalEdits: number;
}

type Operation = TextDocumentEdit | CreateFile | RenameFile | DeleteFile;

/** The absolute path of a `file:` URI. @throws ToolError `unsupported` for other schemes */
export function editPath(uri: string): string {
  const path = uriToPath(uri);
  if (path === undefined) {
    throw new ToolError("unsupported", `the edit changes ${uri}, which is no file`, { hint: "nothing was written" });
  }
  return path;
}

/** Every path that an edit names, and where those inside renamed folders stand before. */
export function pathsOfEdit(edit: WorkspaceEdit): string[] {
  const paths = new Set<string>();
  for (const operation of operationsOf(edit)) {
    if (!("kind" in operation)) paths.add(editPath(operation.textDocument.uri));
    else if (operation.kind === "rename") {
      paths.add(editPath(operation.oldUri));
      paths.add(editPath(operation.newUri));
    } else paths.add(editPath(operation.uri));
  }
  for (const operation of operationsOf(edit).reverse()) {
    if (!("kind" in operation) || operation.kind !== "rename") continue;
    const [from, to] = [editPath(operation.oldUri), editPath(operation.newUri)];
    for (const path of [...paths]) if (path !== to && isInside(to, path)) paths.add(from + path.slice(to.length));
  }
  return [...paths];
}

function operationsOf(edit: WorkspaceEdit): Operation[] {
  if (edit.documentChanges) return [...(edit.documentChanges as Operation[])];
  return Object.entries(edit.changes ?? {}).map(([uri, edits]) => ({ textDocument: { uri, version: null }, edits }));
}

/**
 * Carries an edit out on snapshots, operation by operation, later ones seeing what earlier ones did.
 *
 * @throws ToolError `conflict` (version, overlap, existing target, full folder), `not_found`, `unsupported`
 * @see https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#workspaceEdit
 */
export function planWorkspaceEdit(edit: WorkspaceEdit, snapshots: SnapshotReader): EditPlan {
  const world = new World(snapshots);
  const annotations = new Map<string, PlannedAnnotation>();
  const annotate = (id: string | undefined, count: number) => {
    const annotation = id === undefined ? undefined : edit.changeAnnotations?.[id];
    if (id === undefined || !annotation) return;
    const known = annotations.get(id) ?? describeAnnotation(annotation);
    annotations.set(id, { ...known, edits: known.edits + count });
  };
  let totalEdits = 0;
  for (const operation of operationsOf(edit)) {
    if (!("kind" in operation)) {
      const path = editPath(operation.textDocument.uri);
      world.edit(path, operation.textDocument.version ?? null, operation.edits.map(plainEdit));
      totalEdits += operation.edits.length;
      for (const one of operation.edits) annotate((one as AnnotatedTextEdit).annotationId, 1);
      continue;
    }
    annotate(operation.annotationId, 1);
    if (operation.kind === "create") world.create(editPath(operation.uri), operation.options ?? {});
    else if (operation.kind === "rename") {
      world.rename(editPath(operation.oldUri), editPath(operation.newUri), operation.options ?? {});
    } else if (operation.kind === "delete") world.delete(editPath(operation.uri), operation.options ?? {});
    else
      throw new ToolError("unsupported", `the edit holds an operation of unknown kind`, {
        hint: "nothing was written",
      });
  }
  return { changes: world.changes(), annotations: [...annotations.values()], totalEdits };
}

function plainEdit(edit: TextEdit | AnnotatedTextEdit | SnippetTextEdit): TextEdit {
  if ("newText" in edit) return edit;
  throw new ToolError("unsupported", "the edit holds a snippet, which only an editor can fill in", {
    hint: "nothing was written",
  });
}

function describeAnnotation(annotation: ChangeAnnotation): PlannedAnnotation {
  return {
    label: annotation.label,
    ...(annotation.description !== undefined && { description: annotation.description }),
    needsConfirmation: annotation.needsConfirmation === true,
    edits: 0,
  };
}
