import { showHidden } from "@toolhaft/asset-format";
import { defineTool, ToolError } from "@toolhaft/core";
import { z } from "zod";
import { checkText, invalid } from "../checks.ts";
import { decodeCursor, encodeCursor } from "../cursor.ts";
import type { Desk } from "../desk.ts";
import { parseAsset } from "../details.ts";
import { type Asset, compareText, inScope, refOf } from "../model.ts";
import { fitLines, notesOf, plural } from "../present.ts";
import type { TextCache } from "../reference-cache.ts";
import { type HitLine, hitLines, linesOf, type Needle, needleOf, windowsOf } from "../reference-text.ts";
import { cursorInput, limitInput, listedShape, reading, refSchema, roleInput, text } from "../schemas.ts";
import { wholeText } from "../skill-text.ts";
import type { View } from "../view.ts";

const columns = z.array(z.object({ start: z.int(), end: z.int() }));
const shownLine = z.object({
  line: z.int(),
  text: z.string(),
  hit: z.boolean(),
  columns: columns.optional(),
  cut: z.boolean().optional(),
});
const output = z.object({
  ...listedShape,
  hits: z.int(),
  files: z.int(),
  results: z.array(
    z.object({
      asset: refSchema,
      owners: z.array(z.string()),
      windows: z.array(z.object({ startLine: z.int(), lines: z.array(shownLine) })),
    }),
  ),
  unreadable: z.array(z.object({ path: z.string(), reason: z.string() })),
});

interface FileHits {
  asset: Asset;
  lines: readonly string[];
  hits: HitLine[];
}

export function referenceSearchTool(desk: Desk, cache: TextCache) {
  return defineTool({
    name: "reference_search",
    title: "Find text in references",
    description: "Finds a literal text in the references of roles and skills, with the lines around it.",
    keywords: ["grep references", "search docs"],
    inputSchema: z.object({
      query: text("Literal text, one line.", 500),
      case_sensitive: z.boolean().default(false).describe("Match case."),
      limit: limitInput(50, 10, "Page size."),
      context_lines: z.int().min(0).max(10).default(2).describe("Lines around a hit."),
      role_id: roleInput,
      cursor: cursorInput,
    }),
    outputSchema: output,
    annotations: reading,
    async execute(input, ctx) {
      const query = checkText("query", input.query, 500, '"retry policy"');
      if (/[\r\n]/.test(query))
        throw invalid("query: it has a line break; one line is searched at a time", 'such as "retry policy"');
      const view = await desk.view(ctx);
      const role = view.role(input.role_id);
      const { files, unreadable } = await searchFiles(view, needleOf(query, input.case_sensitive), role, cache);
      files.sort(byRank);
      const question = ["references", query, input.case_sensitive, role ?? null];
      const offset = decodeCursor(view.version, question, input.cursor);
      const all = files.flatMap((file) => file.hits.map((hit) => ({ file, hit })));
      const page = all.slice(offset, offset + input.limit);
      const end = offset + input.limit;
      return {
        catalogVersion: view.version,
        notes: [...view.notes],
        ...(end < all.length && { nextCursor: encodeCursor(view.version, question, end) }),
        hits: files.reduce((sum, { hits }) => sum + hits.reduce((count, hit) => count + hit.hits.length, 0), 0),
        files: files.length,
        results: files.flatMap((file) => {
          const hits = page.filter((one) => one.file === file).map(({ hit }) => hit);
          if (hits.length === 0) return [];
          return [
            {
              asset: refOf(file.asset),
              owners: file.asset.owners,
              windows: windowsOf(file.lines, hits, input.context_lines),
            },
          ];
        }),
        unreadable,
      };
    },
    render(data, _, toolName) {
      const left = data.unreadable.length > 0 ? `, ${plural(data.unreadable.length, "file")} not read` : "";
      const lines = [`${plural(data.hits, "hit")} in ${plural(data.files, "file")}${left}`];
      for (const { asset, windows } of data.results) {
        lines.push("", `${asset.path}${asset.role === null ? "" : ` (role ${asset.role})`}`);
        windows.forEach((window, index) => {
          if (index > 0) lines.push("  ⋮");
          lines.push(...window.lines.map(lineText));
        });
      }
      if (data.unreadable.length > 0)
        lines.push("", `Not read: ${data.unreadable.map(({ path, reason }) => `${path} (${reason})`).join(", ")}`);
      if (data.nextCursor !== undefined)
        lines.push("", `More: ${toolName("reference_search")} with the same parameters and cursor ${data.nextCursor}`);
      return fitLines([...lines, ...notesOf(data.notes)], 30_000);
    },
  });
}

function lineText({ line, text: shown, hit, columns: at, cut }: z.output<typeof shownLine>): string {
  if (!hit) return `  ${line}| ${showHidden(shown)}`;
  if (cut || !at) return `> ${line}| ${showHidden(shown)}`;
  const points = [...shown];
  let marked = "";
  let from = 0;
  for (const { start, end } of at) {
    marked += `${points.slice(from, start).join("")}**${points.slice(start, end).join("")}**`;
    from = end;
  }
  return `> ${line}| ${showHidden(marked + points.slice(from).join(""))}`;
}

async function searchFiles(view: View, needle: Needle, role: string | undefined, cache: TextCache) {
  const files: FileHits[] = [];
  const unreadable: { path: string; reason: string }[] = [];
  const seen = new Set<string>();
  for (const asset of view.assets) {
    if (asset.type !== "reference" || (role !== undefined && !inScope(asset, role))) continue;
    const key = asset.id.includes("#") ? asset.id : view.realPath(asset);
    if (seen.has(key)) continue;
    seen.add(key);
    view.ctx.signal.throwIfAborted();
    const read = await linesFor(view, asset, cache);
    if (typeof read === "string") {
      unreadable.push({ path: asset.path, reason: read });
      continue;
    }
    const hits = hitLines(read, needle);
    if (hits.length > 0) files.push({ asset, lines: read, hits });
  }
  return { files, unreadable };
}

/** The lines of a reference, or why it has none. */
async function linesFor(view: View, asset: Asset, cache: TextCache): Promise<readonly string[] | string> {
  const key = asset.id;
  const known = cache.get(key, asset.version);
  if (known) return known;
  try {
    const file = await view.read(asset);
    const whole = wholeText(file, asset.path);
    const lines = linesOf(asset.id.includes("#") ? parseAsset(asset, whole).body : whole);
    cache.put(key, file.version, lines);
    return lines;
  } catch (error) {
    if (view.ctx.signal.aborted || !(error instanceof ToolError)) throw error;
    return (
      /binary|not UTF-8|links? leads?.*|EACCES|ENOENT|\d+ bytes.*most is/.exec(error.message)?.[0] ?? error.message
    );
  }
}

/** Files with hits in headings first, then those with the most hits a line. */
function byRank(a: FileHits, b: FileHits): number {
  const headings = ({ hits }: FileHits): number => hits.filter(({ heading }) => heading).length;
  const density = ({ hits, lines }: FileHits): number =>
    hits.reduce((sum, hit) => sum + hit.hits.length, 0) / Math.max(1, lines.length);
  return headings(b) - headings(a) || density(b) - density(a) || compareText(a.asset.path, b.asset.path);
}
