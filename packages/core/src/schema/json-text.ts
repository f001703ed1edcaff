/** Longer texts than this are not read as JSON. */
export const maxJsonText = 16 * 1024 * 1024;

/** The value of a JSON text, or `undefined` when it is none. */
export function readJson(text: string): { value: unknown } | undefined {
  if (text.length > maxJsonText) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Whether a text begins a JSON object or array and stops before its end, as arguments do that met the token limit.
 *
 * @returns Its length when it does; `undefined` for whole, wrong or other text.
 */
export function cutJsonEnd(text: string): number | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > maxJsonText || readJson(text) !== undefined) return undefined;
  const open: string[] = [];
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (inString) {
      if (character === "\\") index++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") open.push(character === "{" ? "}" : "]");
    else if (character === "}" || character === "]") {
      if (open.pop() !== character) return undefined;
      if (open.length === 0) return undefined;
    }
  }
  return text.length;
}
