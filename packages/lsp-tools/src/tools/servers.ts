import { type AnyTool, defineTool } from "@toolhaft/core";
import { z } from "zod";
import { beginCall } from "../open-file.ts";
import { clip } from "../render/text.ts";
import { missingServers, type ServerStatus, statuses } from "../status.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

export const serverStatus = z.object({
  id: z.string(),
  languageIds: z.array(z.string()),
  status: z.enum(["stopped", "starting", "loading", "ready", "stopping", "backoff", "failed"]),
  command: z.string(),
  version: z.string().optional(),
  root: z.string().optional(),
  pid: z.number().int().optional(),
  uptimeMs: z.number().optional(),
  rssBytes: z.number().optional(),
  openDocuments: z.number().int(),
  pending: z.number().int(),
  tools: z.array(z.string()),
  lastError: z.string().optional(),
  stderrTail: z.string().optional(),
});

export function servers(toolbox: Toolbox): AnyTool {
  return anyTool(
    defineTool({
      name: "lsp_servers",
      title: "Language servers",
      description: "Which language servers run, and which are missing here, with the command that installs them.",
      inputSchema: z.object({}),
      outputSchema: z.object({
        servers: z.array(serverStatus),
        missing: z.array(
          z.object({
            id: z.string(),
            languageIds: z.array(z.string()),
            install: z.array(z.string()),
            reason: z.string(),
          }),
        ),
        problems: z.array(z.string()),
      }),
      annotations: readOnly,
      async execute(_input, context) {
        const call = beginCall(toolbox.engine, context);
        const { directory } = call.scope;
        const missing = await missingServers(call);
        const { problems } = await toolbox.engine.registry(directory);
        return { servers: await statuses(toolbox.engine, directory), missing, problems };
      },
      render(output) {
        const lines = (output.servers as ServerStatus[]).map(serverLine);
        if (lines.length === 0) lines.push("no server runs yet; they start with the first call");
        for (const one of output.missing) lines.push(`${one.id} ${one.reason}: ${one.install.join(" && ")}`);
        for (const problem of output.problems) lines.push(`configuration: ${problem}`);
        return lines.join("\n");
      },
    }),
  );
}

/** "typescript ready pid 4242 12m root . 5 open" */
export function serverLine(status: ServerStatus): string {
  const parts = [status.id, status.status];
  if (status.version !== undefined) parts.push(status.version);
  if (status.pid !== undefined) parts.push(`pid ${status.pid}`);
  if (status.uptimeMs !== undefined) parts.push(uptime(status.uptimeMs));
  if (status.rssBytes !== undefined) parts.push(`${Math.round(status.rssBytes / 1024 / 1024)} MiB`);
  parts.push(`root ${status.root ?? "?"}`, `${status.openDocuments} open`);
  if (status.pending > 0) parts.push(`${status.pending} pending`);
  const error = status.lastError === undefined ? "" : `\n  last error: ${clip(status.lastError, 400)}`;
  return parts.join(" ") + error;
}

function uptime(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
}
