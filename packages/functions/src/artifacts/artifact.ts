/** What a session wrote under a name. */
export interface ArtifactInfo {
  name: string;
  state: "missing" | "empty" | "present";
  /** Where it lies, or would lie. */
  path: string;
  bytes: number;
  /** Epoch milliseconds; 0 when it is missing. */
  modifiedAt: number;
}

/** Artifacts by session and name. One function maps a name to its file, for writing, testing and showing. */
export interface ArtifactStore {
  stat(session: string, name: string): Promise<ArtifactInfo>;
  read(session: string, name: string): Promise<string | undefined>;
  /** Replaces what is there as a whole. `payload` is JSON. @default kind "text" */
  write(session: string, name: string, text: string, kind?: "text" | "payload"): Promise<ArtifactInfo>;
  list(session: string): Promise<readonly ArtifactInfo[]>;
}

/** More than white space. */
export function contentState(text: string): "empty" | "present" {
  return text.trim() === "" ? "empty" : "present";
}

/** Boxes that are not ticked: `- [ ]`, `* [ ]`, `1. [ ]`. */
export function uncheckedBoxes(text: string): number {
  return text.match(/^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ \t]\]/gm)?.length ?? 0;
}
