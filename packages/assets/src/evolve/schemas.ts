import { z } from "zod";
import { findingSchema, listedShape, refSchema } from "../schemas.ts";

export const changelogInput = z
  .string()
  .default("")
  .meta({ description: "What changed and why, up to 500 characters.", maxLength: 500 });
export const dryRunInput = z.boolean().default(false).describe("Everything but the write.");
export const expectedInput = z.int().min(1).optional().describe("Version the skill must still have.");
export const skillName = (description: string) => z.string().min(1).meta({ description, maxLength: 300 });
/** On every tool that changes a skill that is there. */
export const changeShape = { changelog: changelogInput, dry_run: dryRunInput, expected_version: expectedInput };

/** What a call did. */
export const operations = ["create", "update", "patch", "delete", "rollback", "write_file", "remove_file"] as const;

export const evolveOutput = z.object({
  ...listedShape,
  skill: refSchema,
  op: z.enum(operations),
  version: z.int(),
  previous: z.int().nullable(),
  restored: z.int().optional(),
  match: z
    .object({
      strategy: z.string(),
      similarity: z.number(),
      places: z.array(z.object({ startLine: z.int(), endLine: z.int() })),
    })
    .optional(),
  files: z.array(z.object({ path: z.string(), bytes: z.int(), sha256: z.string().nullable() })),
  findings: z.array(findingSchema),
  diff: z.string(),
  dryRun: z.boolean(),
});
export type EvolveOutput = z.output<typeof evolveOutput>;
