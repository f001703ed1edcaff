import { z } from "zod";
import { lengthOf } from "./text-window.ts";

/** Text of a length in code points, which zod does not count; not blank, and nothing a database cannot keep. */
export function text(description: string, most?: number) {
  return z
    .string()
    .min(1)
    .refine((value) => value.trim() !== "", { message: "must not be blank" })
    .refine(isKept, { message: "must not hold NUL or half of a surrogate pair" })
    .refine((value) => most === undefined || lengthOf(value) <= most, {
      message: `must have at most ${most} characters`,
    })
    .meta({ description, ...(most !== undefined && { maxLength: most }) });
}

/** Whether a text is well-formed and without NUL. */
export function isKept(value: string): boolean {
  return !/[\0\ud800-\udfff]/.test(value) || !/\0|\p{Surrogate}/u.test(value);
}

export const taskId = z.string().describe("Task id.");
export const cursor = z.string().optional().describe("Next page.");
export const limit = (most: number, usual: number) =>
  z.number().int().min(1).max(most).default(usual).describe("Page size.");
export const date = (what: string) => z.string().optional().describe(`${what}.`);
export const waitMs = z.number().int().min(0).max(600_000).default(0).describe("Wait for one.");
export const leaseSecs = z.number().int().min(10).max(86_400).optional().describe("Seconds the claim lasts.");
export const exportPath = z.string().min(1).optional().describe("File to write to.");
