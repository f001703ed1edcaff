import { ToolError } from "@toolhaft/core";
import { type ByteEdit, type Change, parseText, refineChanges, spliceBytes, type TextFile } from "@toolhaft/workspace";
import type { OffsetEdit } from "./offsets.ts";
import type { PlannedChange } from "./world.ts";

type Files = ReadonlyMap<string, TextFile | undefined>;

/** The paths that a change names. */
export function pathsOf(change: PlannedChange): string[] {
  return "to" in change ? [change.path, change.to] : [change.path];
}

/** A plan as changes of the workspace, which take each path once. */
export function toChanges(planned: readonly PlannedChange[], files: Files): Change[] {
  const times = new Map<string, number>();
  for (const path of planned.flatMap(pathsOf)) times.set(path, (times.get(path) ?? 0) + 1);
  const isKnotted = (change: PlannedChange) => pathsOf(change).some((path) => (times.get(path) ?? 0) > 1);
  return [
    ...planned.filter((change) => !isKnotted(change)).flatMap((change) => toChange(change, files)),
    ...untie(planned.filter(isKnotted), files),
  ];
}

/** Files that change places, or take one that another has just left: told by what each path holds in the end. */
function untie(knotted: readonly PlannedChange[], files: Files): Change[] {
  const held = new Map<string, { bytes: Uint8Array; mode: number | undefined }>();
  const left = new Set<string>();
  for (const change of knotted) {
    if ("folder" in change && change.folder) {
      throw new ToolError("unsupported", `the edit uses the place of the folder ${change.path} twice`, {
        hint: "nothing was written",
      });
    }
    const file = files.get(change.path);
    if (change.operation === "create")
      held.set(change.path, { bytes: Buffer.from(change.text, "utf8"), mode: undefined });
    else if (change.operation === "delete") left.add(change.path);
    else if (file && change.operation === "edit") {
      held.set(change.path, { bytes: spliceBytes(file, byteEdits(file, change.edits)).bytes, mode: file.mode });
    } else if (file && change.operation === "rename") {
      const bytes = change.text === undefined ? file.bytes : spliceBytes(file, [wholeText(file, change.text)]).bytes;
      held.set(change.to, { bytes, mode: file.mode });
      left.add(change.path);
    }
  }
  const gone = [...left].filter((path) => !held.has(path)).map((path): Change => ({ kind: "delete", path }));
  const filled = [...held].flatMap(([path, { bytes, mode }]): Change[] => {
    const file = files.get(path);
    if (!file) return [{ kind: "create", path, bytes, ...(mode !== undefined && { mode }) }];
    if (Buffer.compare(file.bytes, bytes) === 0) return [];
    return [{ kind: "replace", path, ...spliced(file, [{ start: 0, end: file.bytes.length, insert: bytes }]) }];
  });
  return [...gone, ...filled];
}

function toChange(change: PlannedChange, files: Files): Change[] {
  switch (change.operation) {
    case "create": {
      const bytes = Buffer.from(change.text, "utf8");
      if (!change.overwrites) return [{ kind: "create", path: change.path, bytes }];
      const file = files.get(change.path);
      if (!file) return [{ kind: "create", path: change.path, bytes }];
      return [
        { kind: "replace", path: change.path, ...spliced(file, [{ start: 0, end: file.bytes.length, insert: bytes }]) },
      ];
    }
    case "delete":
      return [{ kind: "delete", path: change.path }];
    case "edit": {
      const file = files.get(change.path);
      if (!file) return [];
      return [{ kind: "replace", path: change.path, ...spliced(file, byteEdits(file, change.edits)) }];
    }
    case "rename": {
      const move = {
        kind: "move" as const,
        path: change.path,
        to: change.to,
        ...(change.overwrites && { overwrite: true }),
      };
      // a folder has no bytes: asking for them is an error
      if (change.text === undefined) return [move];
      const file = files.get(change.path);
      if (!file) return [move];
      return [{ ...move, ...spliced(file, [wholeText(file, change.text)]) }];
    }
  }
}

/** The new bytes, and the lines that really differ: servers send whole functions where one word has changed. */
function spliced(
  file: TextFile,
  edits: readonly ByteEdit[],
): Pick<Change & { kind: "replace" }, "bytes" | "lineChanges"> {
  const { bytes, changes } = spliceBytes(file, edits);
  return { bytes, lineChanges: refineChanges(file, parseText(bytes), changes) };
}

/** UTF-16 offsets of the text as byte offsets of the file; the BOM belongs to the file, not to the text. */
function byteEdits(file: TextFile, edits: readonly OffsetEdit[]): ByteEdit[] {
  const bom = file.bom ? 3 : 0;
  const text = Buffer.from(file.bytes.buffer, file.bytes.byteOffset + bom, file.bytes.length - bom).toString("utf8");
  let units = 0;
  let bytes = bom;
  const advance = (to: number) => {
    bytes += Buffer.byteLength(text.slice(units, to), "utf8");
    units = to;
    return bytes;
  };
  return edits.map((edit) => {
    const start = advance(edit.start);
    const end = advance(edit.end);
    return { start, end, insert: Buffer.from(edit.text, "utf8") };
  });
}

/** The text as a whole; the BOM belongs to the file and stays. */
function wholeText(file: TextFile, text: string): ByteEdit {
  return { start: file.bom ? 3 : 0, end: file.bytes.length, insert: Buffer.from(text, "utf8") };
}
