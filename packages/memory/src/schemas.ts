import { z } from "zod";
import { categories, relevances, scopes, states } from "./model.ts";

/** Lengths are code points, which zod does not count: they are declared here and checked where the text is used. */
export function text(description: string, most?: number) {
  return z
    .string()
    .min(1)
    .meta({ description, ...(most !== undefined && { maxLength: most }) });
}

export const idInput = z.string().meta({ description: "Memory id." });
export const names = (description: string) => z.array(z.string()).optional().meta({ description });

export const memorySchema = z.object({
  id: z.string(),
  title: z.string(),
  category: z.enum(categories),
  relevance: z.enum(relevances),
  scope: z.enum(scopes),
  role: z.string().nullable(),
  tags: z.array(z.string()),
  about: z.array(z.string()),
  createdAt: z.string(),
  updatedAt: z.string(),
  version: z.number().int(),
  state: z.enum(states),
  supersededBy: z.string().nullable(),
  supersedes: z.array(z.string()),
  chars: z.number().int(),
  uses: z.number().int(),
  lastUsedAt: z.string().nullable(),
  confidence: z.number(),
  source: z.object({ agent: z.string(), sessionId: z.string(), imported: z.boolean() }),
});

export const hitSchema = memorySchema.extend({
  excerpt: z.string(),
  truncated: z.boolean(),
  matched: z.array(z.string()),
  score: z.number(),
  why: z.object({ text: z.number(), subject: z.number(), prior: z.number(), vector: z.number().nullable() }),
});

export const warningSchema = z.object({
  code: z.string(),
  message: z.string(),
  kind: z.string().optional(),
  field: z.string().optional(),
  start: z.number().optional(),
  end: z.number().optional(),
});

export const degradedSchema = z.object({ part: z.enum(["vectors"]), code: z.string(), message: z.string() });

export const readOnly = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
export const writing = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
export const overwriting = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
} as const;
