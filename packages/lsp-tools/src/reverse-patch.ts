/**
 * The text a unified diff started from, given the text it led to.
 *
 * @returns `undefined` when the diff does not fit the text
 */
export function reversePatch(after: string, diff: string): string | undefined {
  const lines = splitLines(after);
  const before: string[] = [];
  let at = 0;
  let inHunk = false;
  let previous: "-" | "+" | " " | undefined;
  for (const row of diff.split("\n")) {
    const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/.exec(row);
    if (hunk) {
      // a hunk without new lines names the line before it
      const start = Number(hunk[1]) - (hunk[2] === "0" ? 0 : 1);
      if (start < at || start > lines.length) return undefined;
      before.push(...lines.slice(at, start));
      at = start;
      inHunk = true;
      continue;
    }
    if (!inHunk) continue;
    const mark = row[0];
    if (mark === "\\") {
      // "\ No newline at end of file" belongs to the row before it
      if (previous === "-") before.push((before.pop() ?? "").replace(/\n$/, ""));
      continue;
    }
    if (mark === " " || mark === "+") {
      const line = lines[at];
      if (line === undefined || line.replace(/\n$/, "") !== row.slice(1)) return undefined;
      if (mark === " ") before.push(line);
      at++;
      previous = mark;
    } else if (mark === "-") {
      before.push(`${row.slice(1)}\n`);
      previous = mark;
    } else if (row !== "") inHunk = false;
  }
  return [...before, ...lines.slice(at)].join("");
}

function splitLines(text: string): string[] {
  const lines = text.split("\n").map((line) => `${line}\n`);
  const last = lines.pop() ?? "\n";
  return last === "\n" ? lines : [...lines, last.slice(0, -1)];
}
