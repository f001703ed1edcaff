import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import type { Memory } from "../model.ts";
import type { Notes } from "../notes.ts";
import { oneLine, type ToolName } from "../present.ts";
import { idInput, memorySchema, overwriting } from "../schemas.ts";

export const forgetOutput = z.object({ memory: memorySchema, already: z.boolean(), replaced: z.string().nullable() });

export function forgetTool(notes: Notes) {
  return defineTool({
    name: "memory_forget",
    title: "Forget or restore a memory",
    description: "Takes a memory out of recall, or brings a forgotten or superseded one back. Nothing is deleted.",
    keywords: ["delete", "remove", "undo", "忘记", "忘れる"],
    inputSchema: z.object({
      id: idInput,
      restore: z.boolean().default(false).describe("Bring it back."),
      reason: z.string().optional().meta({ description: "Why.", maxLength: 200 }),
    }),
    outputSchema: forgetOutput,
    annotations: overwriting,
    execute: (input, ctx) => notes.forget(input, ctx),
    render: (data, input, toolName) => renderForget(data, input.restore, "memory_forget", "id", toolName),
  });
}

export function renderForget(
  { memory, already, replaced }: { memory: Memory; already: boolean; replaced: string | null },
  restore: boolean,
  tool: string,
  parameter: string,
  toolName: ToolName,
): string {
  const done = restore ? "Restored" : "Forgot";
  const lines = [
    `${already ? `Already ${restore ? "live" : "forgotten"}:` : done} ${memory.id}: ${oneLine(memory.title)}`,
  ];
  if (replaced !== null && !restore)
    lines.push(`It had replaced ${replaced}, which stays superseded until it is restored itself.`);
  lines.push(`To undo: ${toolName(tool)} with ${parameter} ${memory.id}${restore ? "" : " and restore true"}`);
  return lines.join("\n");
}
