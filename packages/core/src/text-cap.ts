/** What any client takes in one text, in UTF-8 bytes. */
export const maxTextBytes = 96_000;

export interface TextLimits {
  /** UTF-16 units. */
  maxTextChars: number;
  /** UTF-8 bytes. */
  maxTextBytes: number;
}

export interface CappedText {
  text: string;
  /** UTF-16 units left out; 0 when nothing was. */
  left: number;
}

const headShare = 0.7;

/**
 * Keeps head (70 %) and tail of a text that is over a limit, cut between code points, with a line between them telling
 * what was left out. Where a cut falls inside a fence (``` or `<label nonce: …>`), the fence is closed before the line
 * and opened again after it, so that foreign text never stands outside its marks.
 *
 * @param where Ends the line: "; the full text is in …".
 */
export function capText(text: string, limits: TextLimits, where = ""): CappedText {
  if (fits(text, limits.maxTextChars, limits.maxTextBytes)) return { text, left: 0 };
  const fences = findFences(text);
  let budget = Math.min(limits.maxTextChars, text.length);
  for (let attempt = 0; attempt < 40 && budget > 0; attempt++) {
    const capped = cutTo(text, budget, fences, where);
    if (fits(capped.text, limits.maxTextChars, limits.maxTextBytes)) return capped;
    const over = Math.max(capped.text.length - limits.maxTextChars, 1);
    const bytes = byteLength(capped.text);
    const byBytes = bytes > limits.maxTextBytes ? Math.ceil(budget * (1 - limits.maxTextBytes / bytes)) + 1 : 0;
    budget -= Math.max(over, byBytes);
  }
  // Room for not even the line that tells: the beginning alone.
  let end = Math.min(limits.maxTextChars, text.length);
  while (end > 0 && byteLength(text.slice(0, codePointStart(text, end))) > limits.maxTextBytes)
    end = Math.floor(end / 2);
  const start = text.slice(0, codePointStart(text, end));
  return { text: start, left: text.length - start.length };
}

/** Whether a text is within both limits. */
export function fits(text: string, chars: number, bytes: number): boolean {
  return text.length <= chars && (text.length * 3 <= bytes || byteLength(text) <= bytes);
}

interface Fence {
  /** Where the opening line begins, its inside begins and ends, and the closing line ends. */
  start: number;
  bodyStart: number;
  bodyEnd: number;
  end: number;
  open: string;
  close: string;
}

function cutTo(text: string, budget: number, fences: readonly Fence[], where: string): CappedText {
  const headLength = Math.floor(budget * headShare);
  let headEnd = codePointStart(text, headLength);
  let tailStart = codePointStart(text, Math.max(headEnd, text.length - (budget - headLength)));
  const before = fenceAround(fences, headEnd);
  if (before !== undefined) headEnd = headEnd < before.bodyStart ? before.start : Math.min(headEnd, before.bodyEnd);
  const closing = before !== undefined && headEnd > before.start ? before.close : "";
  const after = fenceAround(fences, tailStart);
  if (after !== undefined) tailStart = tailStart > after.bodyEnd ? after.end : Math.max(tailStart, after.bodyStart);
  const opening = after !== undefined && tailStart < after.end ? after.open : "";
  const left = tailStart - headEnd;
  const head = text.slice(0, headEnd);
  const line = `[… ${left} of ${text.length} characters left out here${where}]`;
  const parts = [head, closing, line, opening]
    .filter((part) => part !== "")
    .map((part) => (part.endsWith("\n") ? part : `${part}\n`));
  return { text: parts.join("") + text.slice(tailStart), left };
}

function fenceAround(fences: readonly Fence[], at: number): Fence | undefined {
  return fences.find((fence) => at > fence.start && at < fence.end);
}

/** Outermost fences in order; one that is never closed is none. */
function findFences(text: string): Fence[] {
  const fences: Fence[] = [];
  // Looking for plain text is ten times as fast as the expression below, and most long texts hold no fence.
  if (!text.includes("```") && !text.includes("~~~") && !text.includes("</")) return fences;
  const opener = /^(?: {0,3}(?<ticks>`{3,}|~{3,})[^\n]*|<(?<label>[a-z][a-z0-9_-]*) (?<nonce>[2-9a-z]{8}): [^\n]*>)$/gm;
  for (let match = opener.exec(text); match !== null; match = opener.exec(text)) {
    const { ticks, label, nonce } = match.groups ?? {};
    const closer =
      ticks === undefined
        ? new RegExp(`^</${label} ${nonce}>$`, "gm")
        : new RegExp(`^ {0,3}${ticks.charAt(0)}{${ticks.length},}[ \\t]*$`, "gm");
    closer.lastIndex = opener.lastIndex;
    const found = closer.exec(text);
    if (found === null) continue;
    const bodyStart = Math.min(opener.lastIndex + 1, found.index);
    const end = found.index + found[0].length;
    fences.push({ start: match.index, bodyStart, bodyEnd: found.index, end, open: match[0], close: found[0] });
    opener.lastIndex = end;
  }
  return fences;
}

/** The index itself, or one less where it would split a surrogate pair. */
function codePointStart(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  const before = text.charCodeAt(index - 1);
  return unit >= 0xdc00 && unit <= 0xdfff && before >= 0xd800 && before <= 0xdbff ? index - 1 : index;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
