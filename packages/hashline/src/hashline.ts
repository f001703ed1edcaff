import type { Family } from "@toolhaft/core";
import { Editor } from "./editor.ts";
import { type HashlineOptions, settingsOf } from "./options.ts";
import { applyPatchTool } from "./tools/apply-patch.ts";
import { editTool } from "./tools/edit.ts";
import { editFileTool } from "./tools/edit-file.ts";
import { readTool } from "./tools/read.ts";
import { undoEditTool } from "./tools/undo-edit.ts";

/** The tools `hashline_read`, `hashline_edit`, `edit_file`, `apply_patch` and `undo_edit`. */
export interface Hashline extends Family {
  readonly name: "hashline";
}

/**
 * The family of file tools. Opens nothing; the first call does.
 *
 * @throws RangeError for limits that are no positive integers
 *
 * @example
 * await using hashline = createHashline();
 * const [read] = hashline.tools;
 * const reply = await read?.call({ filePath: "src/app.ts" }, { directory: process.cwd() });
 */
export function createHashline(options: HashlineOptions = {}): Hashline {
  const editor = new Editor(options, settingsOf(options));
  const close = (): Promise<void> => editor.close();
  return {
    name: "hashline",
    tools: [readTool(editor), editTool(editor), editFileTool(editor), applyPatchTool(editor), undoEditTool(editor)],
    close,
    [Symbol.asyncDispose]: close,
  };
}
