import { createContextTools, filesSource } from "../src/index.ts";

/** A family that a child process can make: its one source needs nothing but the folder. */
export function createFilesContext() {
  return createContextTools({ sources: [filesSource()] });
}
