import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const beside = fileURLToPath(new URL("../../../../shared/data", import.meta.url));

/** Sample transcripts, read where they lie; undefined where they are absent. */
export const samples: string | undefined = [process.env.TOOLHAFT_DATA, beside]
  .filter((folder) => folder !== undefined)
  .map((folder) => `${folder}/sessions`)
  .find((folder) => existsSync(folder));
