import type { ToolContext } from "../context.ts";
import { messageOf } from "../failure.ts";
import { capText, maxTextBytes as defaultMaxTextBytes, fits } from "../text-cap.ts";
import type { Attachment, ToolResult } from "../tool.ts";
import type { Middleware } from "./types.ts";

/** Keeps a full text somewhere; `spillTo` of `@toolhaft/core/node` writes it to a file. */
export type Spill = (text: string, context: ToolContext) => Promise<Attachment>;

export interface ResultCapOptions {
  /** UTF-16 units. @default the tool's own limit */
  maxTextChars?: number;
  /** UTF-8 bytes. @default 96_000 */
  maxTextBytes?: number;
  spill?: Spill;
}

const cutKey: unique symbol = Symbol.for("toolhaft.cut.v1");

/**
 * Keeps head (70 %) and tail of a text over a limit, cut between code points and outside fences, with a line telling
 * what was left out. With `spill` the full text is kept and attached. `data` stays whole.
 */
export function resultCap(options: ResultCapOptions = {}): Middleware {
  const { maxTextBytes = defaultMaxTextBytes, spill } = options;
  return async (call, next) => {
    const result = await next(call);
    // Never above the tool's own limit: core cuts there in any case, and only here the full text can still be kept.
    const limits = {
      maxTextChars: Math.min(options.maxTextChars ?? call.tool.maxTextChars, call.tool.maxTextChars),
      maxTextBytes,
    };
    if (fits(result.text, limits.maxTextChars, limits.maxTextBytes)) return result;
    const kept = spill === undefined ? undefined : await keep(spill, result.text, call.context);
    const where =
      kept === undefined
        ? ""
        : "problem" in kept
          ? `; the full text could not be kept: ${kept.problem}`
          : `; the full text is in ${placeOf(kept.attachment)}`;
    const { text } = capText(result.text, limits, where);
    return Object.freeze(
      markCut(withText(result, text, kept !== undefined && "attachment" in kept ? kept.attachment : undefined)),
    );
  };
}

/** Whether {@link resultCap} cut a result's text. */
export function wasCut(result: ToolResult): boolean {
  return cutKey in result;
}

async function keep(
  spill: Spill,
  text: string,
  context: ToolContext,
): Promise<{ attachment: Attachment } | { problem: string }> {
  try {
    return { attachment: await spill(text, context) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function placeOf({ source, name }: Attachment): string {
  return source.kind === "file" ? source.path : source.kind === "uri" ? source.uri : name;
}

function withText(result: ToolResult, text: string, attachment: Attachment | undefined): ToolResult {
  if (!result.ok || attachment === undefined) return { ...result, text };
  return { ...result, text, attachments: [...(result.attachments ?? []), attachment] };
}

function markCut(result: ToolResult): ToolResult {
  return Object.defineProperty(result, cutKey, { value: true, enumerable: false });
}
