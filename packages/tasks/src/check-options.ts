import { z } from "zod";
import type { TasksOptions } from "./options.ts";

const positive = z.number().int().positive();
const schema = z.strictObject({
  store: z.unknown().optional(),
  path: z.string().min(1).optional(),
  durability: z.enum(["normal", "full"]).optional(),
  visibility: z.enum(["store", "root"]).optional(),
  maxWaitMs: z.number().int().min(0).max(600_000).optional(),
  clock: z.unknown().optional(),
  workspace: z.unknown().optional(),
  board: z
    .strictObject({
      leaseMs: positive.optional(),
      maxAttempts: positive.max(20).optional(),
      maxPending: positive.optional(),
    })
    .optional(),
  retention: z
    .strictObject({ days: z.number().min(0).optional(), keep: z.number().int().min(0).optional() })
    .optional(),
});

/** @throws TypeError naming the field */
export function checkOptions(options: TasksOptions): void {
  const checked = schema.safeParse(options);
  if (checked.success) return;
  const [issue] = checked.error.issues;
  const field = issue?.path.join(".") ?? "";
  throw new TypeError(`createTasks: ${field === "" ? "" : `${field}: `}${issue?.message ?? "options are wrong"}`);
}
