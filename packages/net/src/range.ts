import { ToolError } from "@toolhaft/core";
import type { Exchange } from "./exchange.ts";
import type { NetRequest, Note } from "./types.ts";
import type { ParsedUrl } from "./url.ts";

/** The headers that ask for the rest of a body. A weak ETag cannot promise equal bytes. @throws ToolError `invalid_input` */
export function rangeHeaders(range: NetRequest["range"]): Record<string, string> {
  if (range === undefined) return {};
  if (
    !Number.isSafeInteger(range.start) ||
    range.start < 0 ||
    range.validator === "" ||
    /^W\//i.test(range.validator)
  ) {
    throw new ToolError(
      "invalid_input",
      "a range needs a start of at least 0 and a strong ETag or a Last-Modified date",
    );
  }
  return { range: `bytes=${range.start}-`, "if-range": range.validator };
}

/**
 * Judges the answer to a range: 206 must continue at the very byte, 200 starts over, 416 with the full size says that all is there.
 *
 * @throws ToolError `upstream` for a part that does not fit
 * @see RFC 9110, section 14
 */
export function rangeNotes(range: NetRequest["range"], head: Exchange, target: ParsedUrl): readonly Note[] {
  const contentRange = head.headers.get("content-range") ?? "";
  if (head.status === 206) {
    const start = /^bytes (\d+)-\d+\/(?:\d+|\*)$/.exec(contentRange)?.[1];
    if (range !== undefined && start !== undefined && Number(start) === range.start) return [];
    const error = new ToolError(
      "upstream",
      `${target.url.origin} sent a part that was not asked for (${contentRange.slice(0, 80) || "no Content-Range"})`,
    );
    head.abort(error);
    throw error;
  }
  if (range === undefined || head.status !== 416) return [];
  const size = /^bytes \*\/(\d+)$/.exec(contentRange)?.[1];
  return size !== undefined && Number(size) === range.start
    ? [{ code: "range_complete", message: "the server has no more bytes than are there" }]
    : [];
}
