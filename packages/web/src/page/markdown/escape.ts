/** Marks with a backslash what Markdown would read as markup inside a line. */
export function escapeInline(text: string): string {
  return text
    .replace(/\\(?=[!-/:-@[-`{-~])/g, "\\\\")
    .replace(/[`~]/g, "\\$&")
    .replace(/\*/g, (star, at: number) => (isBlank(text[at - 1]) && isBlank(text[at + 1]) && at > 0 ? star : "\\*"))
    .replace(/(?<![\p{L}\p{N}_])_|_(?![\p{L}\p{N}_])/gu, "\\_")
    .replace(/!?\[(?=[^\]]*\](?:[([:]|$)|\^)/g, (mark) => mark.replace("[", "\\["))
    .replace(/<(?=[a-zA-Z/!?])/g, "\\<")
    .replace(/&(?=#?\w{1,32};)/g, "\\&");
}

/** What would open a block at the start of a line. */
export function escapeLineStart(line: string): string {
  return line
    .replace(/^(\s*)(#{1,6})(?=\s|$)/, "$1\\$2")
    .replace(/^(\s*)([-+])(?=\s|$)/, "$1\\$2")
    .replace(/^(\s*)(\*)(?=\s)/, "$1\\$2")
    .replace(/^(\s*\d{1,9})([.)])(?=\s|$)/, "$1\\$2")
    .replace(/^(\s*)>/, "$1\\>")
    .replace(/^(\s*)(=+|-{3,}|_{3,})(?=\s*$)/, "$1\\$2");
}

/** A link target that ends where it should: blanks, brackets and angle brackets encoded. */
export function encodeTarget(url: string): string {
  return url.replace(/[\s()<>[\]\\]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

/** Inline code with as many backticks as it needs. */
export function codeSpan(text: string): string {
  const longest = longestRun(text);
  const fence = "`".repeat(longest + 1);
  const pad = text.startsWith("`") || text.endsWith("`") || (text.startsWith(" ") && text.endsWith(" ")) ? " " : "";
  return `${fence}${pad}${text}${pad}${fence}`;
}

export function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

function isBlank(char: string | undefined): boolean {
  return char === undefined || /\s/.test(char);
}
