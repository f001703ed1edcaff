import type { WorkspaceEdit } from "vscode-languageserver-protocol";

/** Whether an edit changes nothing at all. */
export function isEmptyEdit(edit: WorkspaceEdit | null | undefined): boolean {
  if (!edit) return true;
  const operations = edit.documentChanges?.filter((one) => "kind" in one || one.edits.length > 0) ?? [];
  if (operations.length > 0) return false;
  return edit.documentChanges !== undefined || Object.values(edit.changes ?? {}).every((edits) => edits.length === 0);
}
