/**
 * JSON printed again with two blanks a level, token by token: digits, key order and double keys stay as they are.
 * Several values in a row (JSON Lines) are printed one after the other. Text that is not JSON comes back unchanged.
 */
export function indentJson(source: string): { text: string; valid: boolean } {
  const tokens = source.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  if (tokens.length === 0 || !isSound(source, tokens)) return { text: source, valid: false };
  let text = "";
  let depth = 0;
  const line = (): void => {
    text += `\n${"  ".repeat(depth)}`;
  };
  tokens.forEach((token, at) => {
    const next = tokens[at + 1];
    if (token === "{" || token === "[") {
      text += token;
      if (next === "}" || next === "]") return;
      depth += 1;
      line();
    } else if (token === "}" || token === "]") {
      const before = tokens[at - 1];
      if (before !== "{" && before !== "[") {
        depth -= 1;
        line();
      }
      text += token;
    } else if (token === ",") {
      text += token;
      line();
    } else if (token === ":") text += ": ";
    else text += token;
    if (depth === 0 && next !== undefined && token !== ":" && token !== ",") text += "\n";
  });
  return { text, valid: true };
}

/** Every value by itself must be JSON: the whole, or each line. */
function isSound(source: string, tokens: readonly string[]): boolean {
  if (reads(source)) return true;
  const lines = source.split(/\r?\n/).filter((line) => line.trim() !== "");
  return lines.length > 1 && tokens.length > 1 && lines.every(reads);
}

function reads(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
