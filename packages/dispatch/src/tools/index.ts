import type { AnyTool } from "@toolhaft/core";
import type { Desk } from "../desk.ts";
import { agentsTool } from "./agents.ts";
import { cancelTool } from "./cancel.ts";
import { checkpointTool } from "./checkpoint.ts";
import { approveTool, rejectTool } from "./decide.ts";
import { dispatchTool } from "./dispatch.ts";
import { inboxTool } from "./inbox.ts";
import { metricsTool } from "./metrics.ts";
import { outputTool } from "./output.ts";
import { progressTool } from "./progress.ts";
import { statusTool } from "./status.ts";
import { streamTool } from "./stream.ts";

export function toolsOf(desk: Desk): readonly AnyTool[] {
  return Object.freeze([
    dispatchTool(desk),
    outputTool(desk),
    cancelTool(desk),
    approveTool(desk),
    rejectTool(desk),
    metricsTool(desk),
    statusTool(desk),
    progressTool(desk),
    streamTool(desk),
    checkpointTool(desk),
    inboxTool(desk),
    agentsTool(desk),
  ]);
}
