import { type AnyTool, defineTool, nearest, ToolError } from "@toolhaft/core";
import { z } from "zod";
import { beginCall } from "../open-file.ts";
import { restartServers } from "../pool.ts";
import type { ServerStatus } from "../status.ts";
import { serverLine, serverStatus } from "./servers.ts";
import { anyTool, type Toolbox } from "./toolbox.ts";

export function restartServer(toolbox: Toolbox): AnyTool {
  return anyTool(
    defineTool({
      name: "lsp_restart_server",
      title: "Restart a language server",
      description:
        "Restarts the servers of a language and forgets their failures. Use when a server failed or was just installed.",
      inputSchema: z.object({
        languageId: z.string().min(1).describe("Language or server id."),
      }),
      outputSchema: z.object({ servers: z.array(serverStatus) }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      async execute(input, context) {
        const { scope } = beginCall(toolbox.engine, context);
        const { definitions } = await toolbox.engine.registry(scope.directory);
        const known = definitions.flatMap((one) => [one.id, ...one.files.map((file) => file.languageId)]);
        if (!known.includes(input.languageId)) {
          const names = nearest(input.languageId, [...new Set(known)]);
          throw new ToolError("not_found", `no server is known for language "${input.languageId}"`, {
            ...(names.length > 0 && { hint: `near names: ${names.join(", ")}` }),
          });
        }
        const filter = { languageId: input.languageId, below: scope.directory };
        return { servers: await restartServers(toolbox.engine, filter, scope) };
      },
      render(output, input) {
        const lines = (output.servers as ServerStatus[]).map(serverLine);
        return lines.length > 0
          ? lines.join("\n")
          : `no server for ${input.languageId} has been started here yet; earlier failures are forgotten, the next call starts one`;
      },
    }),
  );
}
