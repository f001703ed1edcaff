import { z } from "zod";
import { severities } from "../answer.ts";

export const pos = z.object({ line: z.number().int(), character: z.number().int() });
export const range = z.object({ start: pos, end: pos });

export const target = z.object({
  path: z.string(),
  position: pos,
  name: z.string().optional(),
  kind: z.string().optional(),
  text: z.string(),
  snapped: z.boolean(),
});

export const serverReport = z.object({
  id: z.string(),
  root: z.string(),
  ms: z.number(),
  message: z.string().optional(),
  outcome: z.enum(["answered", "empty", "unsupported", "not_ready", "failed", "timed_out"]),
});

export const answer = {
  target: target.optional(),
  servers: z.array(serverReport),
  complete: z.boolean(),
  incomplete: z.string().optional(),
};

export const page = { total: z.number().int(), offset: z.number().int(), shown: z.number().int() };

export const place = z.object({
  path: z.string(),
  range,
  name: z.string().optional(),
  kind: z.string().optional(),
  text: z.string().optional(),
});

export const symbolInfo = z.object({
  path: z.string(),
  symbol: z.string(),
  name: z.string(),
  kind: z.string(),
  detail: z.string().optional(),
  container: z.string().optional(),
  range,
  selection: range,
  depth: z.number().int(),
  deprecated: z.literal(true).optional(),
});

export const diagnostic = z.object({
  range,
  severity: z.enum(severities),
  code: z.string().optional(),
  source: z.string().optional(),
  message: z.string(),
  server: z.string(),
  tags: z.array(z.enum(["unnecessary", "deprecated"])).optional(),
  related: z.array(z.object({ path: z.string(), range, message: z.string() })).optional(),
});

export const editData = {
  ...answer,
  status: z.enum(["applied", "preview", "no_change"]),
  totalFiles: z.number().int(),
  totalEdits: z.number().int(),
  files: z.array(
    z.object({
      path: z.string(),
      operation: z.enum(["edit", "create", "rename", "delete"]),
      to: z.string().optional(),
      edits: z.number().int(),
      added: z.number().int(),
      removed: z.number().int(),
      lines: z.array(z.number().int()),
    }),
  ),
  annotations: z.array(
    z.object({
      label: z.string(),
      description: z.string().optional(),
      needsConfirmation: z.boolean(),
      edits: z.number().int(),
    }),
  ),
  skippedCommands: z.array(z.string()).optional(),
  diff: z.string().optional(),
};
