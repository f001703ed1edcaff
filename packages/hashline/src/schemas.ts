import * as z from "zod";
import { warningCodes } from "./edit-warnings.ts";

/** Two line numbers: the first and the last of a range; an empty range has last = first - 1. */
export const linePair = z.array(z.int()).length(2);

export const versionInput = z
  .string()
  .refine((text) => /^[0-9a-fA-F]{12,64}$/.test(text), "12 to 64 hex digits, as shown by a read or an edit");

export const outcomeShape = {
  dryRun: z.boolean(),
  commitId: z.string().optional(),
  notes: z.array(z.string()),
  warnings: z.array(
    z.object({ code: z.enum(warningCodes), filePath: z.string(), line: z.int().optional(), message: z.string() }),
  ),
};

export const editedFileShape = {
  filePath: z.string(),
  version: z.string(),
  totalLines: z.int(),
  hashWidth: z.int(),
  diff: z.string(),
  diffTruncated: z.boolean(),
  additions: z.int(),
  deletions: z.int(),
  remap: z.array(z.object({ from: linePair, to: linePair })),
  anchors: z.array(z.object({ line: z.int(), hash: z.string(), text: z.string() })),
};
