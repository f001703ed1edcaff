import type { Hover, MarkedString, MarkupContent } from "vscode-languageserver-protocol";

/** All forms of hover contents as Markdown; code with a language is fenced. */
export function markdownOf(contents: MarkupContent | MarkedString | MarkedString[] | string | undefined): string {
  if (contents === undefined || contents === null) return "";
  if (typeof contents === "string") return contents.trim();
  if (Array.isArray(contents)) {
    return contents
      .map((one) => markdownOf(one))
      .filter((text) => text !== "")
      .join("\n\n");
  }
  if ("language" in contents) {
    return contents.value.trim() === "" ? "" : `\`\`\`${contents.language}\n${contents.value}\n\`\`\``;
  }
  return contents.value.trim();
}

export function hoverMarkdown(hover: Hover | null | undefined): string {
  return hover ? markdownOf(hover.contents) : "";
}
