import { showHidden } from "@toolhaft/asset-format";
import { invalid } from "./checks.ts";
import type { Content } from "./model.ts";

/** UTF-16 units of a window as it is shown. */
const mostUnits = 110_000;

/**
 * A window of a text in code points; windows joined give the text.
 *
 * @throws ToolError `invalid_input` when it begins behind the end
 */
export function windowOf(text: string, offset: number, maxChars: number): Content {
  const points = /[\ud800-\udfff]/.test(text) ? [...text] : undefined;
  const total = points?.length ?? text.length;
  if (offset > total || (offset === total && offset > 0)) {
    throw invalid(
      `offset: ${offset} is past the end; the text has ${total} characters`,
      `begin at 0 to ${Math.max(0, total - 1)}`,
    );
  }
  const cut = (to: number): string => (points ? points.slice(offset, to).join("") : text.slice(offset, to));
  let end = Math.min(total, offset + maxChars);
  let part = cut(end);
  // Emoji count twice and hidden characters ninefold in what is shown, and a reply has an end.
  for (let size = showHidden(part).length; size > mostUnits && end > offset + 1; size = showHidden(part).length) {
    end = offset + Math.max(1, Math.floor(((end - offset) * mostUnits) / size) - 1);
    part = cut(end);
  }
  return { text: part, offset, totalChars: total, ...(end < total && { nextOffset: end }) };
}

/** Cuts to `most` code points; what was cut ends in `…`, what was not does not. */
export function cutText(text: string, most: number): string {
  const points = [...text];
  return points.length <= most ? text : `${points.slice(0, most - 1).join("")}…`;
}
