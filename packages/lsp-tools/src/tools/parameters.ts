import { z } from "zod";
import type { Where, WhereRange } from "../target.ts";

const mostSymbol = 256;

/** The parameter sets that tools share, in the numbering of the toolset. */
export function parameters(base: 0 | 1) {
  const number = (text: string) => z.number().int().min(base).optional().describe(text);
  const filePath = z.string().describe("Path or URI.");
  const symbol = z
    .string()
    .min(1)
    .refine((text) => text.length <= mostSymbol, `must be at most ${mostSymbol} characters long`)
    .optional()
    .describe("Or: area, Circle/area, foo#2");
  const based = `From ${base}.`;
  return {
    filePath,
    symbol,
    /** F */
    file: { filePath },
    /** P */
    position: {
      filePath,
      line: number(based),
      character: number("UTF-16."),
      symbol,
    },
    /** R */
    range: {
      filePath,
      startLine: number(based),
      startChar: number("UTF-16."),
      endLine: number("Last line."),
      endChar: number("Exclusive."),
      symbol,
    },
    /** L */
    page: (limit: number) => ({
      limit: z.number().int().min(1).max(1000).default(limit).describe("Page size."),
      offset: z.number().int().min(0).default(0).describe("Skip."),
    }),
  };
}

interface PositionInput {
  line?: number | undefined;
  character?: number | undefined;
  symbol?: string | undefined;
}

/** A position as given, 0-based. */
export function whereOf(input: PositionInput, base: number): Where {
  return { line: less(input.line, base), character: less(input.character, base), symbol: input.symbol };
}

/** A range as given, 0-based. */
export function whereRangeOf(input: WhereRange, base: number): WhereRange {
  return {
    startLine: less(input.startLine, base),
    startChar: less(input.startChar, base),
    endLine: less(input.endLine, base),
    endChar: less(input.endChar, base),
    symbol: input.symbol,
  };
}

function less(value: number | undefined, base: number): number | undefined {
  return value === undefined ? undefined : value - base;
}
