export type Path = readonly (string | number)[];

/** One thing that is wrong with an input or output; the message holds no value but numbers, booleans and enum misses. */
export interface Issue {
  path: Path;
  message: string;
  unknownKey?: true;
}

/** How many are shown; the rest is counted. */
export const maxIssues = 10;

/** `edits[0].op`; the root is `(root)`. */
export function showIssuePath(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? part : `.${part}`;
  }
  return text === "" ? "(root)" : text;
}

/** One line: path and message. */
export function showIssue(issue: Issue): string {
  return issue.unknownKey || issue.path.length === 0 ? issue.message : `${showIssuePath(issue.path)}: ${issue.message}`;
}
