import { setMaxListeners } from "node:events";
import { readdir } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { nearest, type ToolContext, ToolError } from "@toolhaft/core";
import type { Call } from "./ask.ts";
import type { Engine } from "./engine.ts";
import type { ServingFile } from "./serving.ts";
import type { FileText } from "./texts.ts";
import { realPathOf, shownPath, uriToPath } from "./uris.ts";

/** The file that a call is about. */
export interface OpenFile {
  text: FileText;
  /** Absolute, as the caller spelt it. */
  given: string;
  /** Relative to the directory when below it. */
  shown: string;
  served: ServingFile;
}

export function beginCall(engine: Engine, context: ToolContext): Call {
  const { directory, worktree, roots, signal } = context;
  // one signal serves all requests of a call, and one session many calls
  setMaxListeners(0, signal);
  return {
    engine,
    deadline: performance.now() + engine.timeouts.call,
    scope: {
      directory: realPathOf(directory),
      worktree: realPathOf(worktree),
      roots: roots.map(realPathOf),
      signal,
      ask: (request) => context.ask(request),
      permits: (permission, resource) => context.permits(permission, resource),
      progress: (update) => context.progress(update),
    },
  };
}

/** A path as given: relative, absolute or a `file:` URI. */
export function givenPath(call: Call, filePath: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(filePath)) return resolve(call.scope.directory, filePath);
  const path = uriToPath(filePath);
  if (path === undefined) {
    throw new ToolError("invalid_input", `${filePath} is no file: URI`, { hint: "give a path or a file: URI" });
  }
  return path;
}

/**
 * Reads the file a call is about, through the gate, and finds its servers.
 *
 * @throws ToolError `not_found`, `invalid_input` (folder), `unsupported` (binary), `too_large`, `denied`
 */
export async function openFile(call: Call, filePath: string): Promise<OpenFile> {
  const { engine, scope } = call;
  const given = givenPath(call, filePath);
  const workspace = engine.workspaceFor(scope.directory, scope.roots);
  const resolved = await workspace.resolve(given, "read", { ...scope, links: "lexical" });
  const shown = shownPath(scope.directory, given);
  if (resolved.kind === "missing") throw await noSuchFile(given, shown);
  if (resolved.kind === "directory") {
    throw new ToolError("invalid_input", `${shown} is a folder`, { hint: "name a file in it" });
  }
  const text = await engine.texts.read(resolved.path, scope, given).catch((error: unknown) => {
    throw error instanceof ToolError && error.code === "unsupported"
      ? new ToolError("unsupported", `${shown} is no text file: ${error.message}`, {
          hint: "language servers read text only",
        })
      : error;
  });
  const served = await engine.servingFor(scope, resolved.path, text.source.text);
  return { text, given, shown, served };
}

async function noSuchFile(path: string, shown: string): Promise<ToolError> {
  const siblings = await readdir(dirname(path)).catch(() => []);
  const names = nearest(basename(path), siblings);
  return new ToolError("not_found", `there is no file ${shown}`, {
    hint: names.length > 0 ? `near names: ${names.join(", ")}` : `look into ${dirname(shown)}`,
  });
}
