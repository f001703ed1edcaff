import type { DiagnosticsData, FileDiagnostic } from "../answer.ts";
import { at, callText, headline, pagedText, plural, type TextItem } from "./text.ts";

const defaults = { limit: 200, offset: 0, severity: "all" };

export function diagnosticsText(
  output: DiagnosticsData,
  input: object,
  base: 0 | 1,
  toolName: (name: string) => string,
): string {
  const { files, counts } = output;
  const [first] = files;
  const where = files.length === 1 && first ? first.path : plural(files.length, "file");
  const found = (["error", "warning", "information", "hint"] as const)
    .filter((level) => counts[level] > 0)
    .map((level) => (level === "information" ? `${counts[level]} information` : plural(counts[level], level)));
  const doubtful = files.filter((file) => file.freshness === "unconfirmed");
  const lead = leadText(found, where, files.length, doubtful.length);
  const hidden = output.hidden > 0 ? ` (${output.hidden} below the level asked for are not shown)` : "";
  const items = files.flatMap((file) => itemsOf(file, files.length > 1, base));
  const text = pagedText({
    header: headline(lead + hidden, output, output.total > 0 ? base : undefined),
    items: items.filter((item) => item.count > 0),
    page: output,
    answer: output,
    next: (offset) => callText(toolName("lsp_diagnostics"), input, { offset }, defaults),
  });
  const unsure = doubtful
    .slice(0, 20)
    .map((file) => `${file.path}: not confirmed for this version; not known to be clean`);
  return [text, ...(files.length > 1 || output.total > 0 ? unsure : [])].join("\n");
}

function leadText(found: readonly string[], where: string, files: number, doubtful: number): string {
  if (found.length > 0) return `${found.join(", ")} in ${where}`;
  if (doubtful > 0) return `nothing found in ${where}, but not all servers have confirmed it`;
  return files === 1 ? `${where} is clean` : `${where} are clean`;
}

function itemsOf(
  file: DiagnosticsData["files"][number],
  grouped: boolean,
  base: number,
): (TextItem & { count: number })[] {
  return file.diagnostics.map((one) => ({
    ...(grouped && { group: file.path }),
    text: lineOf(one, base),
    count: 1,
  }));
}

function lineOf(one: FileDiagnostic, base: number): string {
  const code =
    one.code === undefined ? "" : ` ${one.source === "typescript" || one.source === "ts" ? "ts" : ""}${one.code}`;
  const tags = one.tags ? ` [${one.tags.join(", ")}]` : "";
  const message = one.message.replace(/\s*\n\s*/g, " ");
  const related = (one.related ?? [])
    .slice(0, 3)
    .map(
      (info) =>
        `\n  ${info.path} ${at(info.range.start, base)} ${info.message.replace(/\s*\n\s*/g, " ").slice(0, 200)}`,
    );
  return `${one.severity} ${at(one.range.start, base)}${code} ${message}${tags}${related.join("")}`;
}
