import { parseSkill } from "@toolhaft/asset-format";
import { ToolError } from "@toolhaft/core";
import { findText, parseText, replaceText, type TextMatch, type TextModel } from "@toolhaft/workspace";
import type { MatchTold } from "./change.ts";

/** Replaces a text where it is found: in the body when it is there, else also in the header. */
export function patched(
  bytes: Buffer,
  {
    old_string: needle,
    new_string: replacement,
    replace_all: all,
  }: { old_string: string; new_string: string; replace_all: boolean },
  path: string,
): { bytes: Buffer; match: MatchTold } {
  const file = parseText(bytes);
  // Two expected places keep the anchors out, which find one block.
  const found = findText(file, needle, all ? { expected: 2 } : {});
  if (found.kind === "missing") throw notFound(found, path);
  const body = bodyStart(file, path);
  const inBody = found.places.filter(({ start }) => start >= body);
  const places = inBody.length > 0 ? inBody : found.places;
  if (!all && places.length > 1) {
    const lines = places.map(({ startLine }) => startLine);
    throw new ToolError(
      "conflict",
      `the text is in ${path} ${places.length} times, in lines ${lines.slice(0, 20).join(", ")}${lines.length > 20 ? " …" : ""}`,
      {
        hint: "send more of the text around the right place, or replace_all",
        retryable: false,
        details: { lines: lines.slice(0, 100) },
      },
    );
  }
  if (places.some((place, index) => place.start < (places[index - 1]?.end ?? 0)))
    throw new ToolError("conflict", `the places of the text in ${path} overlap`, {
      hint: "send more of the text around one place",
      retryable: false,
    });
  const similarity = found.similarity ?? 1;
  const { bytes: after } = replaceText(
    file,
    { kind: "found", strategy: found.strategy, places, total: places.length },
    needle,
    replacement,
  );
  return {
    bytes: Buffer.from(after),
    match: {
      strategy: found.strategy,
      similarity,
      places: places.map(({ startLine, endLine }) => ({ startLine, endLine })),
    },
  };
}

function bodyStart(file: TextModel, path: string): number {
  if (!/^skill\.md$/i.test(path)) return 0;
  const text = Buffer.from(file.bytes).toString("utf8");
  const { document } = parseSkill(text, "");
  return document.document ? Buffer.byteLength(text.slice(0, document.bodyStart)) : 0;
}

function notFound(found: Extract<TextMatch, { kind: "missing" }>, path: string): ToolError {
  const { closest } = found;
  const places = closest.map(({ line, endLine, similarity }) => `lines ${line}–${endLine} (similarity ${similarity})`);
  const diffs = closest.map(({ diff }) => diff.slice(Math.max(0, diff.indexOf("@@"))).trimEnd()).join("\n");
  return new ToolError(
    "conflict",
    `the text is not in ${path}${closest.length > 0 ? `; nearest: ${places.join(", ")}\n${diffs}` : ""}`,
    {
      hint: closest.length > 0 ? "copy the text from there" : "read the file again",
      retryable: false,
      details: { closest: closest.map((one) => ({ ...one })) },
    },
  );
}
