import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ServerLife } from "../server.ts";
import { skippedFolders } from "../skipped-folders.ts";
import { isInside, pathToUri, realPathOf, uriToPath } from "../uris.ts";

const maxListed = 5_000;

/** The Markdown server has no file system of its own: it asks the client. Only what lies below its root is told. */
export function markdownFiles(life: ServerLife, method: string, params: unknown): Promise<unknown> | undefined {
  if (!method.startsWith("markdown/")) return undefined;
  const { uri } = (params ?? {}) as { uri?: unknown };
  const path = typeof uri === "string" ? uriToPath(uri) : undefined;
  const allowed = path !== undefined && isInside(realPathOf(life.root), realPathOf(path)) ? path : undefined;
  switch (method) {
    case "markdown/parse":
      return parse(life, params);
    case "markdown/fs/readFile":
      return allowed ? readFile(allowed).then((bytes) => [...bytes]) : Promise.resolve([]);
    case "markdown/fs/stat":
      return allowed
        ? stat(allowed).then(
            (stats) => ({ isDirectory: stats.isDirectory() }),
            () => null,
          )
        : Promise.resolve(null);
    case "markdown/fs/readDirectory":
      return allowed
        ? readdir(allowed, { withFileTypes: true }).then((entries) =>
            entries.map((entry) => [entry.name, { isDirectory: entry.isDirectory() }]),
          )
        : Promise.resolve([]);
    case "markdown/findMarkdownFilesInWorkspace":
      return markdownBelow(life.root).then((files) => files.map((file) => pathToUri(file)));
    case "markdown/fs/watcher/create":
    case "markdown/fs/watcher/delete":
      return Promise.resolve(null);
    default:
      return undefined;
  }
}

async function markdownBelow(root: string): Promise<string[]> {
  const found: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (found.length >= maxListed) return;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !skippedFolders.has(entry.name)) await walk(path);
      else if (/\.(?:md|markdown)$/i.test(entry.name)) found.push(path);
    }
  };
  await walk(root);
  return found;
}

/** The server wants the tokens of a CommonMark parser; the client has to bring it. */
async function parse(life: ServerLife, params: unknown): Promise<unknown> {
  const { uri, text } = (params ?? {}) as { uri?: unknown; text?: unknown };
  const path = typeof uri === "string" ? uriToPath(uri) : undefined;
  const source =
    typeof text === "string"
      ? text
      : path === undefined
        ? ""
        : (life.documents.get(realPathOf(path))?.text ?? (await readFile(path, "utf8").catch(() => "")));
  const { default: MarkdownIt } = await import("markdown-it");
  return new MarkdownIt({ html: true }).parse(source, {});
}
