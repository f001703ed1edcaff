/**
 * Lines of a payload, without terminators. A string is split by the line model: `"x\ny"` and `"x\ny\n"` are two lines,
 * `"\n"` is one blank line, `""` none. In an array each element is one line, `""` a blank one; an element that holds
 * `\n` is split the same way. A `\r` before `\n` or at the end of an element is part of the terminator.
 */
export function splitPayload(lines: string | readonly string[]): readonly string[] {
  if (typeof lines === "string") return lines === "" ? [] : splitElement(lines);
  return lines.flatMap(splitElement);
}

function splitElement(element: string): readonly string[] {
  const parts = element.split("\n");
  if (parts.length > 1 && parts.at(-1) === "") parts.pop();
  return parts.map((part) => (part.endsWith("\r") ? part.slice(0, -1) : part));
}
