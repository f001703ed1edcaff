import { z } from "zod";
import { assetTypes } from "./model.ts";

/** Text of 1 to `most` code points once blanks are off its ends; checked by {@link checkText}. */
export function text(description: string, most: number) {
  return z.string().min(1).meta({ description, maxLength: most });
}

export const typeInput = z.enum(assetTypes);
export const roleInput = z.string().optional().describe("This role and below.");
export const cursorInput = z.string().optional().describe("Next page.");
export const limitInput = (most: number, otherwise: number, what: string) =>
  z.int().min(1).max(most).default(otherwise).describe(what);

export const refSchema = z.object({
  id: z.string(),
  type: z.enum(assetTypes),
  name: z.string(),
  role: z.string().nullable(),
  root: z.string(),
  path: z.string(),
});

export const assetSchema = refSchema.extend({
  description: z.string(),
  tags: z.array(z.string()),
  owners: z.array(z.string()),
  status: z.enum(["ok", "broken"]),
  label: z.string().optional(),
  bytes: z.int(),
  modifiedAt: z.number(),
  version: z.string(),
  aliases: z.array(z.string()),
  shadowedBy: z.string().optional(),
});

export const contentSchema = z.object({
  text: z.string(),
  offset: z.int(),
  totalChars: z.int(),
  nextOffset: z.int().optional(),
});

export const issueSchema = z.object({
  rule: z.string(),
  severity: z.enum(["error", "warning"]),
  asset: refSchema,
  file: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
  message: z.string(),
  hint: z.string(),
  fix: z.object({ description: z.string(), diff: z.string() }).optional(),
});

export const findingSchema = z.object({
  rule: z.string(),
  severity: z.enum(["block", "warn"]),
  line: z.int(),
  column: z.int(),
  excerpt: z.string(),
});

export const versionSchema = z.object({
  version: z.int(),
  parent: z.int().nullable(),
  origin: z.int(),
  op: z.string(),
  changelog: z.string(),
  agent: z.string(),
  sessionId: z.string(),
  callId: z.string(),
  at: z.number(),
  treeSha256: z.string(),
  strategy: z.string().optional(),
});

/** Part of every answer. */
export const listedShape = {
  catalogVersion: z.string(),
  notes: z.array(z.string()),
  nextCursor: z.string().optional(),
};

export const reading = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
export const mending = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
export const creating = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
} as const;
export const changing = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: false,
} as const;
