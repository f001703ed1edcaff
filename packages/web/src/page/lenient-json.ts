/**
 * JSON as pages really write it: with comments, CDATA marks, trailing commas and raw line feeds in strings.
 * Undefined when even so it cannot be read; nothing is ever evaluated.
 */
export function parseLenient(source: string): unknown {
  const plain = source
    .replace(/^\s*(?:<!--|\/\*\s*<!\[CDATA\[\s*\*\/|<!\[CDATA\[|\/\/\s*<!\[CDATA\[)/, "")
    .replace(/(?:-->|\/\*\s*\]\]>\s*\*\/|\/\/\s*\]\]>|\]\]>)\s*$/, "")
    .trim();
  return tryParse(plain) ?? tryParse(repair(plain));
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Walks the text once, inside and outside of strings, and mends what JSON forbids. */
function repair(text: string): string {
  let result = "";
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (inString) {
      if (char === "\\") {
        result += char + (text[at + 1] ?? "");
        at += 1;
        continue;
      }
      if (char === '"') inString = false;
      result += char === "\n" ? "\\n" : char === "\r" ? "\\r" : char === "\t" ? "\\t" : char < " " ? " " : char;
      continue;
    }
    if (char === '"') inString = true;
    else if (char === "/" && text[at + 1] === "*") {
      at = Math.max(at, text.indexOf("*/", at + 2)) + 1;
      continue;
    } else if (char === "/" && text[at + 1] === "/") {
      const end = text.indexOf("\n", at);
      if (end < 0) break;
      at = end;
      continue;
    } else if (char === "," && /^\s*[}\]]/.test(text.slice(at + 1, at + 200))) continue;
    else if (char === ";" && text.slice(at + 1).trim() === "") continue;
    result += char;
  }
  return result;
}
