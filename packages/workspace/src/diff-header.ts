import type { TextModel } from "./text-model.ts";

/** How a diff names its two sides. Relative paths with "/"; a leading "/" is left out of the header. */
export interface DiffNames {
  readonly before: string;
  readonly after: string;
  /** File modes, written for a created or deleted file. @default 0o644 */
  readonly mode?: number;
}

/** The lines before the first hunk; `hunks`: whether there is one. */
export function headerOf(before: TextModel | null, after: TextModel | null, hunks: boolean, names: DiffNames): string {
  const from = relative(after && !before ? names.after : names.before);
  const to = relative(before && !after ? names.before : names.after);
  const lines: string[] = [];
  if (!before || !after || from !== to) {
    // Quoted also where only a space asks for it: GNU patch finds no two names in the line otherwise.
    const force = /\s/.test(from + to);
    lines.push(`diff --git ${quoted(`a/${from}`, force)} ${quoted(`b/${to}`, force)}`);
    const mode = (names.mode ?? 0o644) & 0o111 ? "100755" : "100644";
    if (!before) lines.push(`new file mode ${mode}`);
    else if (!after) lines.push(`deleted file mode ${mode}`);
    else lines.push(`rename from ${quoted(from)}`, `rename to ${quoted(to)}`);
  }
  if (hunks) {
    lines.push(before ? `--- ${tabbed(quoted(`a/${from}`))}` : "--- /dev/null");
    lines.push(after ? `+++ ${tabbed(quoted(`b/${to}`))}` : "+++ /dev/null");
  }
  return lines.map((line) => `${line}\n`).join("");
}

function relative(path: string): string {
  return path.replace(/^\/+/, "");
}

/** A name with a space ends in a tab in the `---` and `+++` lines: readers would cut it at the space. */
function tabbed(name: string): string {
  return name.includes(" ") && !name.startsWith('"') ? `${name}\t` : name;
}

const escapes: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};

/** A name as git quotes it: C escapes, and octal ones for every byte that is not ASCII. */
function quoted(name: string, force = false): string {
  if (!force && !/[^ !#-[\]-~]/.test(name)) return name;
  let text = "";
  for (const byte of Buffer.from(name, "utf8")) {
    const character = String.fromCharCode(byte);
    const plain = byte >= 32 && byte < 127;
    text += escapes[character] ?? (plain ? character : `\\${byte.toString(8).padStart(3, "0")}`);
  }
  return `"${text}"`;
}
