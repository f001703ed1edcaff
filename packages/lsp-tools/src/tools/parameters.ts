import { z } from "zod";
import type { Where, WhereRange } from "../target.ts";

/** The parameter sets that tools share, in the numbering of the toolset. */
export function parameters(base: 0 | 1) {
  const number = (text: string) => z.number().int().min(base).optional().describe(text);
  const filePath = z.string().min(1).describe("Path or file: URI.");
  const symbol = z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("Name or path of a symbol: area, Circle/area, foo#2 for the second.");
  const based = `from ${base}`;
  return {
    filePath,
    symbol,
    /** F */
    file: { filePath },
    /** P */
    position: {
      filePath,
      line: number(`Line ${based}; with character, or use symbol.`),
      character: number(`UTF-16 column ${based}.`),
      symbol,
    },
    /** R */
    range: {
      filePath,
      startLine: number(`First line ${based}; alone: that whole line.`),
      startChar: number("UTF-16 column of the start."),
      endLine: number("Last line."),
      endChar: number("Column of the end, exclusive."),
      symbol,
    },
    /** L */
    page: (limit: number) => ({
      limit: z.number().int().min(1).max(1000).default(limit).describe("Most entries."),
      offset: z.number().int().min(0).default(0).describe("Entries to skip."),
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
