import { ToolError } from "@toolhaft/core";
import type { ServerDefinition } from "./definition.ts";
import type { CallScope, Launch } from "./launch.ts";
import { realPathOf } from "./uris.ts";

/** Every start passes the gate with the program's real path. @throws ToolError `denied` */
export async function passStartGate(definition: ServerDefinition, launch: Launch, scope: CallScope): Promise<void> {
  const program = realPathOf(launch.program);
  if (launch.byFolder) {
    // asked as `workspace.run` before; a rule against this very program still holds
    if (scope.permits("process.start", program) !== "deny") return;
    throw new ToolError("denied", `${program} may not be started`, { details: { server: definition.id } });
  }
  await scope.ask({
    permission: "process.start",
    resources: [program],
    reason: `start the language server ${definition.id}`,
  });
}
