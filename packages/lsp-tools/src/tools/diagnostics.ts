import { stat } from "node:fs/promises";
import { type AnyTool, defineTool, ToolError } from "@toolhaft/core";
import { z } from "zod";
import type { DiagnosticsData } from "../answer.ts";
import { severities } from "../answer.ts";
import type { Call } from "../ask.ts";
import { checkFiles } from "../diagnostics/check-files.ts";
import { beginCall, givenPath, type OpenFile, openFile } from "../open-file.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { isInside } from "../uris.ts";
import { filesBelow } from "../workspace-search.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

const maxFiles = 50;

export function diagnostics(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  return anyTool(
    defineTool({
      name: "lsp_diagnostics",
      title: "Diagnostics",
      description:
        "Errors and warnings of a file, a folder or all open files, as on disk. Use after every edit. Clean means confirmed.",
      inputSchema: z.object({
        filePath: z.string().min(1).optional().describe("File or folder; default: open files."),
        severity: z
          .enum([...severities, "all"])
          .default("all")
          .describe("Lowest shown."),
        limit: z.number().int().min(1).max(1000).default(200).describe("Page size."),
        offset: z.number().int().min(0).default(0).describe("Skip."),
      }),
      outputSchema: z.object({
        ...schemas.answer,
        ...schemas.page,
        files: z.array(
          z.object({
            path: z.string(),
            freshness: z.enum(["current", "unconfirmed"]),
            diagnostics: z.array(schemas.diagnostic),
          }),
        ),
        counts: z.object({
          error: z.number().int(),
          warning: z.number().int(),
          information: z.number().int(),
          hint: z.number().int(),
        }),
        hidden: z.number().int(),
      }),
      annotations: readOnly,
      async execute(input, context) {
        const call = beginCall(toolbox.engine, context);
        return checkFiles(call, await filesToCheck(call, input.filePath), input);
      },
      render: (output, input, toolName) => diagnosticsText(output as DiagnosticsData, input, base, toolName),
    }),
  );
}

async function filesToCheck(call: Call, filePath: string | undefined): Promise<OpenFile[]> {
  if (filePath === undefined) return openEverywhere(call);
  const given = givenPath(call, filePath);
  const stats = await stat(given).catch(() => undefined);
  if (!stats?.isDirectory()) return [await openFile(call, filePath)];
  const workspace = call.engine.workspaceFor(call.scope.directory, call.scope.roots);
  const resolved = await workspace.resolve(given, "read", { ...call.scope, links: "lexical" });
  const files: OpenFile[] = [];
  for (const path of await filesBelow(resolved.path)) {
    if (files.length >= maxFiles) break;
    const { serving } = await call.engine.servingFor(call.scope, path, undefined);
    if (serving.some((one) => one.definition.role !== "linter")) files.push(await openFile(call, path));
  }
  if (files.length === 0) {
    throw new ToolError("unsupported", `no file in ${filePath} has a language server that is installed`, {
      hint: "lsp_servers lists what is missing",
    });
  }
  return files;
}

async function openEverywhere(call: Call): Promise<OpenFile[]> {
  const paths = new Set<string>();
  for (const entry of call.engine.entries) {
    for (const document of entry.life?.documents.list() ?? []) {
      if (isInside(call.scope.directory, document.path)) paths.add(document.path);
    }
  }
  const files: OpenFile[] = [];
  for (const path of [...paths].sort()) {
    const file = await openFile(call, path).catch((error: unknown) => {
      if (error instanceof ToolError && error.code === "not_found") return undefined; // deleted since
      throw error;
    });
    if (file) files.push(file);
  }
  if (files.length > 0) return files;
  throw new ToolError("invalid_input", "filePath: no file is open in a server yet, so nothing was checked", {
    hint: 'name a file or folder: {"filePath":"src"}',
  });
}
