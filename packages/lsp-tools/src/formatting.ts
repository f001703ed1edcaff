import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FormattingOptions } from "vscode-languageserver-protocol";
import type { OpenFile } from "./open-file.ts";

/** Parameter, else `.editorconfig`, else the file's own indentation, else two spaces. */
export async function formattingOptions(
  file: OpenFile,
  wishes: { tabSize?: number | undefined; insertSpaces?: boolean | undefined },
): Promise<FormattingOptions> {
  const { path, source } = file.text;
  const configured = await editorConfig(path);
  const { default: detectIndent } = await import("detect-indent");
  const found = detectIndent(source.text);
  const own = {
    tabSize: found.type === "space" ? found.amount : undefined,
    insertSpaces: found.type === undefined ? undefined : found.type === "space",
  };
  const { trimTrailingWhitespace, insertFinalNewline, ...indent } = configured;
  return {
    tabSize: wishes.tabSize ?? indent.tabSize ?? own.tabSize ?? 2,
    insertSpaces: wishes.insertSpaces ?? indent.insertSpaces ?? own.insertSpaces ?? true,
    ...(trimTrailingWhitespace !== undefined && { trimTrailingWhitespace }),
    // some formatters drop the last line end unless told not to
    insertFinalNewline: insertFinalNewline ?? /[\r\n]$/.test(source.text),
  };
}

async function editorConfig(path: string) {
  if (!hasEditorConfig(path)) return {};
  const { parse } = await import("editorconfig");
  const props = await parse(path);
  const size = props.indent_size === "tab" ? props.tab_width : (props.indent_size ?? props.tab_width);
  return {
    ...(typeof size === "number" && size >= 1 && size <= 16 && { tabSize: size }),
    ...((props.indent_style === "space" || props.indent_style === "tab") && {
      insertSpaces: props.indent_style === "space",
    }),
    ...(typeof props.trim_trailing_whitespace === "boolean" && {
      trimTrailingWhitespace: props.trim_trailing_whitespace,
    }),
    ...(typeof props.insert_final_newline === "boolean" && { insertFinalNewline: props.insert_final_newline }),
  };
}

function hasEditorConfig(path: string): boolean {
  for (let at = dirname(path); ; at = dirname(at)) {
    if (existsSync(join(at, ".editorconfig"))) return true;
    if (dirname(at) === at) return false;
  }
}
